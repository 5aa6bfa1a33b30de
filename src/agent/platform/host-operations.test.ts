import { expect, test } from 'vitest'
import { createSharedFixture, createWindowsWorker } from '../../../lab/windows/simulator/planned-worker.ts'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { factsFormat } from '../../contract/facts.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { buildPlanWithHost } from '../apply/testing/fixtures.ts'
import { createFakeFactSource } from '../facts/testing/fake-fact-source.ts'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { createLinuxOperations, createWindowsOperations } from './host-operations.ts'

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

test('two simultaneous calls return the same certificate requests', async () => {
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

const source = {
  arch: 'x64',
  cpus: 4,
  memoryBytes: 2 ** 34,
  now: () => new Date(1_794_717_090_000),
  space: async () => ({ totalBytes: 2 ** 37, availableBytes: 2 ** 36 }),
}
const { signal } = new AbortController()
const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'

test('the facts of a Windows host match the schema and the host', async () => {
  await using worker = await createWindowsWorker(await createSharedFixture())
  const facts = await createWindowsOperations(worker.host, source).facts('win1')
  expect(readVersioned(factsFormat, JSON.parse(JSON.stringify(facts)))).toEqual(facts)
  expect(facts).toMatchObject({
    host: 'win1',
    system: {
      os: 'windows',
      hostname: 'win1',
      arch: 'amd64',
      build: 20_348,
      defaultInterface: 'Ethernet',
      addresses: [
        { interface: 'Ethernet', address: '192.168.1.31', prefix: 24 },
        { interface: 'Backup network', address: '192.168.50.7', prefix: 24 },
      ],
      disks: [{ path: 'C:\\', totalBytes: 2 ** 37, availableBytes: 2 ** 36 }],
      networks: [{ name: 'nat', type: 'nat', subnets: ['172.29.144.0/20'] }],
      metadataRoutes: ['169.254.169.254/32'],
      foreignServices: [],
      listeners: [],
    },
  })
})

test('a Windows host applies a plan, stops services, reports facts and resets', async () => {
  await using worker = await createWindowsWorker(await createSharedFixture())
  const { host, plan, machine } = worker
  const work = createWindowsOperations(host, source)
  const request = {
    type: 'apply' as const,
    claim: { holder: 'eva', generation: 1 },
    run,
    plan,
    through: 'network' as const,
    secrets: {},
    certificates: Object.fromEntries(await worker.sign(host, plan)),
  }
  await work.apply(request, () => undefined, signal)
  expect((await work.diff(plan, true, false)).ops).toEqual([])
  expect(await work.certificates()).toHaveLength(5)
  expect(await work.previousPlan('another')).toEqual(plan)
  const stop = { type: 'stop-services' as const, claim: request.claim, run, components: ['kube-proxy'] }
  await work.stopServices(stop, () => undefined, signal)
  expect(machine.services.get('kube-proxy')?.state).toBe('Stopped')
  const { system } = await work.facts('win1')
  expect(system).toMatchObject({ listeners: [{ port: 10_250, process: 'kubelet' }] })
  expect(await work.reset(run, () => undefined, signal)).toBeUndefined()
  expect([...machine.services.keys()]).toEqual(['hns', 'kubelet-exporter'])
})

test('a Windows host refuses operations of etcd', async () => {
  await using worker = await createWindowsWorker(await createSharedFixture())
  const work = createWindowsOperations(worker.host, source)
  expect(await work.activeRestore()).toBeUndefined()
  await expect(work.wipeEtcd(run, () => undefined, signal)).rejects.toMatchObject({
    code: 'WINDOWS_NO_ETCD',
  })
})
