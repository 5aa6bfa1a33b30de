import { chmod, rm, truncate, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import { stopComponentServices } from '../reset/stop-services.ts'
import { applyAndListOps, publishPrograms, someRunId } from '../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { detectDrift, withKnownDigests } from './detect-drift.ts'
import { conflist, healPlan, setUpHealHost, subnetFile, writeHostFile } from './testing/heal-host.ts'

let host: TemporaryHost & AsyncDisposable
let plan: NodePlan
beforeEach(async () => {
  host = await createTemporaryHost()
  plan = await setUpHealHost(host)
})
afterEach(async () => host[Symbol.asyncDispose]())

/** Lists repairable and unrepairable drift as text. */
async function listDrifts(): Promise<{ repairable: string[]; unrepairable: string[] }> {
  const { repairable, unrepairable } = await detectDrift(host, plan)
  return {
    repairable: [...repairable.values()]
      .flat()
      .map(
        ({ component, action, target, because }) => `${component}: ${action} ${target}, ${because.join()}`,
      ),
    unrepairable: [...unrepairable].flatMap(([component, all]) =>
      all.map(({ name, difference }) => `${component}: ${name}, ${difference}`),
    ),
  }
}

test('an unchanged host has no drift', async () => {
  expect(await listDrifts()).toEqual({ repairable: [], unrepairable: [] })
  expect((await detectDrift(host, plan)).stopped).toEqual(new Set())
})

test.each([
  [
    'a program that is deleted',
    async () => rm(host.toLocalPath('/opt/hyperkube/containerd-1/containerd')),
    'containerd: change artifact, containerd is missing',
  ],
  [
    'a program that is truncated',
    async () => truncate(host.toLocalPath('/opt/hyperkube/containerd-1/containerd'), 3),
    'containerd: change artifact, the content of containerd changed',
  ],
  [
    'a program that is not executable',
    async () => chmod(host.toLocalPath('/opt/hyperkube/containerd-1/containerd'), 0o644),
    'containerd: change artifact, the mode of containerd changed',
  ],
  [
    'a configuration that is corrupted',
    async () => writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx'),
    'containerd: change file, content changed',
  ],
  [
    'a conflist that is deleted',
    async () => rm(host.toLocalPath(conflist)),
    'flanneld: create derived-file, missing',
  ],
  [
    'a conflist that is stale',
    async () => writeFile(host.toLocalPath(conflist), '10.244.9.0/24\n'),
    'flanneld: change derived-file, content changed',
  ],
  [
    'a unit that is disabled',
    async () => host.services.disable('flanneld.service'),
    'flanneld: change service, not enabled at boot',
  ],
  [
    'a unit that is changed',
    async () => writeFile(host.toLocalPath('/etc/systemd/system/flanneld.service'), '[Service]\n'),
    'flanneld: change service, content changed',
  ],
])('%s can be repaired', async (_, spoil, what) => {
  await spoil()
  expect(await listDrifts()).toEqual({ repairable: [what], unrepairable: [] })
})

test('a missing directory is repaired before its files', async () => {
  await rm(host.toLocalPath('/etc/hyperkube/containerd'), { recursive: true })
  expect((await listDrifts()).repairable).toEqual([
    'containerd: create directory, missing',
    'containerd: create file, missing',
  ])
})

test('a changed secret cannot be repaired by the host', async () => {
  await writeFile(host.toLocalPath('/etc/hyperkube/agent/key'), 'another')
  expect(await listDrifts()).toEqual({
    repairable: [],
    unrepairable: ['hyperkube-agent: /etc/hyperkube/agent/key, content changed'],
  })
})

test('a missing bootstrap file cannot be repaired by the host', async () => {
  await rm(host.toLocalPath('/etc/hyperkube/agent/bootstrap'))
  expect(await listDrifts()).toEqual({
    repairable: [],
    unrepairable: ['hyperkube-agent: /etc/hyperkube/agent/bootstrap, missing'],
  })
})

test('a derived file is not repaired while its source has changed recently', async () => {
  await writeHostFile(host, subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  host.clock.time = Date.now() + 60_000
  expect((await listDrifts()).repairable).toEqual([])
  host.clock.time = Date.now() + 180_000
  expect((await listDrifts()).repairable).toEqual(['flanneld: change derived-file, content changed'])
})

test('an invalid value in a source file does not prevent the check of the other resources', async () => {
  await writeHostFile(host, subnetFile, 'FLANNEL_SUBNET=xxx\n')
  expect(await listDrifts()).toEqual({ repairable: [], unrepairable: [] })
  await writeFile(host.toLocalPath(conflist), '10.244.9.0/24\n')
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  expect((await listDrifts()).repairable).toEqual([
    'containerd: change file, content changed',
    'flanneld: change derived-file, content changed',
  ])
})

test('no drift is reported after an incomplete apply of another plan', async () => {
  const next = healPlan('two')
  publishPrograms(host, next)
  await applyAndListOps(host, next, { through: 'node', secrets: { key: 'secret' } })
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  expect(await listDrifts()).toEqual({ repairable: [], unrepairable: [] })
})

test('a service that an operator has stopped is reported', async () => {
  const signal = new AbortController().signal
  const emit = (): void => undefined
  await stopComponentServices({ host, name: 'a', run: someRunId, emit, signal }, { components: ['flanneld'] })
  expect((await detectDrift(host, plan)).stopped).toEqual(new Set(['flanneld']))
})

test('a second check reads no unchanged file', async () => {
  const read: string[] = []
  const digest: typeof host.files.digest = async (path) => {
    read.push(path)
    return host.files.digest(path)
  }
  const cachedHost = withKnownDigests({ ...host, files: { ...host.files, digest } })
  await detectDrift(cachedHost, plan)
  expect(read).not.toEqual([])
  read.length = 0
  await detectDrift(cachedHost, plan)
  expect(read).toEqual([])
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'two')
  const { repairable } = await detectDrift(cachedHost, plan)
  expect(repairable.get('containerd')).toHaveLength(1)
  expect(read).toEqual(['/etc/hyperkube/containerd/config'])
})
