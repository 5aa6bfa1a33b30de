import { expect, test } from 'vitest'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { buildPlanWithHost } from '../apply/testing/fixtures.ts'
import { createFakeFactSource } from '../facts/testing/fake-fact-source.ts'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { createLinuxOperations } from './linux-operations.ts'

function certificate(name: string): PlannedCertificate {
  return {
    ca: 'etcd',
    subject: { commonName: name, organizations: [] },
    names: { dns: [name], ip: [] },
    usages: ['client'],
    lifetime: 86_400_000,
    owner: 'root',
    certificateFile: `/etc/hyperkube/etcd/${name}.crt`,
    keyFile: `/etc/hyperkube/etcd/${name}.key`,
  }
}

test('two simultaneous requests get the same response', async () => {
  await using host = await createTemporaryHost()
  const work = createLinuxOperations(host, createFakeFactSource({}))
  const plan = buildPlanWithHost(
    buildComponent({ name: 'etcd', images: [], certificates: ['a', 'b', 'c'].map(certificate) }),
  )
  const createRequests = async () => work.certificateRequests(plan, false)
  const [first, second] = await Promise.all([createRequests(), createRequests()])
  expect(Object.keys(first)).toHaveLength(3)
  expect(second).toEqual(first)
})
