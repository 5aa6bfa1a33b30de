import { expect, test } from 'vitest'
import { computeDigest } from '../../diff/resource.ts'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { readPreviousPlan } from './state-file.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../apply/testing/fixtures.ts'

const first = buildPlanWithHost(
  runningComponent('etcd', '1', { stage: 'etcd' }),
  runningComponent('kubelet', '1', { stage: 'node' }),
)
const second = buildPlanWithHost(
  runningComponent('etcd', '2', { stage: 'etcd' }),
  runningComponent('kubelet', '2', { stage: 'node' }),
)

test('the last plan that was applied completely is the one to roll back to', async () => {
  await using host = await createTemporaryHost()
  publishPrograms(host, first)
  publishPrograms(host, second)
  expect(await readPreviousPlan(host, computeDigest(first))).toBeUndefined()
  await applyAndListOps(host, first)
  expect(await readPreviousPlan(host, computeDigest(first))).toBeUndefined()
  await applyAndListOps(host, second, { through: 'etcd' })
  expect(await readPreviousPlan(host, computeDigest(second))).toEqual(first)
  await applyAndListOps(host, second)
  expect(await readPreviousPlan(host, computeDigest(second))).toEqual(first)
  await applyAndListOps(host, second)
  expect(await readPreviousPlan(host, computeDigest(second))).toEqual(first)
})

test('a plan that fails leaves the previous one recorded', async () => {
  await using host = await createTemporaryHost()
  publishPrograms(host, first)
  publishPrograms(host, second)
  await applyAndListOps(host, first)
  host.services.broken.add('kubelet.service')
  await expect(applyAndListOps(host, second)).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  expect(await readPreviousPlan(host, computeDigest(second))).toEqual(first)
})
