import { expect, test } from 'vitest'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { componentOf } from '../../diff/testing/fixtures.ts'
import { hostPlan } from '../apply/testing/fixtures.ts'
import { inMemory } from '../facts/testing/fake-fact-source.ts'
import { temporaryHost } from '../host/testing/temporary-host.ts'
import { linuxWork } from './linux-operations.ts'

function certificate(name: string): PlannedCertificate {
  return {
    authority: 'etcd',
    subject: { commonName: name, organizations: [] },
    names: { dns: [name], ip: [] },
    usages: ['client'],
    lifetime: 86_400_000,
    owner: 'root',
    certificateFile: `/etc/hyperkube/etcd/${name}.crt`,
    keyFile: `/etc/hyperkube/etcd/${name}.key`,
  }
}

test('who is asked for requests twice at once answers twice with the same', async () => {
  await using host = await temporaryHost()
  const work = linuxWork(host, inMemory({}))
  const plan = hostPlan(
    componentOf({ name: 'etcd', images: [], certificates: ['a', 'b', 'c'].map(certificate) }),
  )
  const ask = async () => work.certificateRequests(plan, false)
  const [first, second] = await Promise.all([ask(), ask()])
  expect(Object.keys(first)).toHaveLength(3)
  expect(second).toEqual(first)
})
