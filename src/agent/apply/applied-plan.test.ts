import { expect, test } from 'vitest'
import { digestOf } from '../../diff/digest.ts'
import { temporaryHost } from '../host/testing/temporary-host.ts'
import { applied, hostPlan, publish, running } from './testing/fixtures.ts'
import { formerPlan } from './applied-plan.ts'

const first = hostPlan(running('etcd', '1', { stage: 'etcd' }), running('kubelet', '1', { stage: 'node' }))
const second = hostPlan(running('etcd', '2', { stage: 'etcd' }), running('kubelet', '2', { stage: 'node' }))

test('the last plan that a host was taken through as a whole is what it can go back to', async () => {
  await using host = await temporaryHost()
  publish(host, first)
  publish(host, second)
  expect(await formerPlan(host, digestOf(first))).toBeUndefined()
  await applied(host, first)
  expect(await formerPlan(host, digestOf(first))).toBeUndefined()
  await applied(host, second, { through: 'etcd' })
  expect(await formerPlan(host, digestOf(second))).toEqual(first)
  await applied(host, second)
  expect(await formerPlan(host, digestOf(second))).toEqual(first)
  await applied(host, second)
  expect(await formerPlan(host, digestOf(second))).toEqual(first)
})

test('one that does not come up leaves the former one in mind', async () => {
  await using host = await temporaryHost()
  publish(host, first)
  publish(host, second)
  await applied(host, first)
  host.systemd.broken.add('kubelet.service')
  await expect(applied(host, second)).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  expect(await formerPlan(host, digestOf(second))).toEqual(first)
})
