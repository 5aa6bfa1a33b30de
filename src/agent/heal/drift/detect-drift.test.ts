import { chmod, rm, truncate, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { applied, publish } from '../../apply/testing/fixtures.ts'
import { stopServices } from '../../apply/reset/stop-services.ts'
import { someRun } from '../../apply/testing/fixtures.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { conflist, healPlan, putOn, setUp, subnetFile } from '../testing/heal-host.ts'
import { withKnownDigests } from './known-digests.ts'
import { lookAtDrift } from './detect-drift.ts'

let host: TemporaryHost & AsyncDisposable
let plan: NodePlan
beforeEach(async () => {
  host = await temporaryHost()
  plan = await setUp(host)
})
afterEach(async () => host[Symbol.asyncDispose]())

/** What would be put back, and what could not. */
async function drifts(): Promise<{ putBack: string[]; beyond: string[] }> {
  const { putBack, beyond } = await lookAtDrift(host, plan)
  return {
    putBack: [...putBack.values()]
      .flat()
      .map(
        ({ component, action, target, because }) => `${component}: ${action} ${target}, ${because.join()}`,
      ),
    beyond: [...beyond].flatMap(([component, all]) =>
      all.map(({ name, what }) => `${component}: ${name}, ${what}`),
    ),
  }
}

test('nothing on a host that is as it was left', async () => {
  expect(await drifts()).toEqual({ putBack: [], beyond: [] })
  expect((await lookAtDrift(host, plan)).stopped).toEqual(new Set())
})

test.each([
  [
    'a program that is deleted',
    async () => rm(host.place('/opt/hyperkube/containerd-1/containerd')),
    'containerd: change artifact, containerd is missing',
  ],
  [
    'a program that is truncated',
    async () => truncate(host.place('/opt/hyperkube/containerd-1/containerd'), 3),
    'containerd: change artifact, the content of containerd is another one',
  ],
  [
    'a program that nobody may run',
    async () => chmod(host.place('/opt/hyperkube/containerd-1/containerd'), 0o644),
    'containerd: change artifact, the mode of containerd is another one',
  ],
  [
    'a configuration that is corrupted',
    async () => writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx'),
    'containerd: change file, its content is another one',
  ],
  [
    'a conflist that is deleted',
    async () => rm(host.place(conflist)),
    'flanneld: create derived-file, it is gone',
  ],
  [
    'a conflist that is stale',
    async () => writeFile(host.place(conflist), '10.244.9.0/24\n'),
    'flanneld: change derived-file, its content is another one',
  ],
  [
    'a unit that is disabled',
    async () => host.systemd.disable('flanneld.service'),
    'flanneld: change service, it would not start at the next boot',
  ],
  [
    'a unit that is another one',
    async () => writeFile(host.place('/etc/systemd/system/flanneld.service'), '[Service]\n'),
    'flanneld: change service, its content is another one',
  ],
])('%s can be put back', async (_, spoil, what) => {
  await spoil()
  expect(await drifts()).toEqual({ putBack: [what], beyond: [] })
})

test('a directory comes before what is in it', async () => {
  await rm(host.place('/etc/hyperkube/containerd'), { recursive: true })
  expect((await drifts()).putBack).toEqual([
    'containerd: create directory, it is gone',
    'containerd: create file, it is gone',
  ])
})

test('a secret is beyond what a host can bring', async () => {
  await writeFile(host.place('/etc/hyperkube/agent/key'), 'another')
  expect(await drifts()).toEqual({
    putBack: [],
    beyond: ['hyperkube-agent: /etc/hyperkube/agent/key, its content is another one'],
  })
})

test('what matters at a birth alone is not put back: it may be taken away for another one', async () => {
  await rm(host.place('/etc/hyperkube/agent/birth'))
  expect(await drifts()).toEqual({
    putBack: [],
    beyond: ['hyperkube-agent: /etc/hyperkube/agent/birth, it is gone'],
  })
})

test('nothing is derived from a source that has just become another one', async () => {
  await putOn(host, subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  host.clock.time = Date.now() + 60_000
  expect((await drifts()).putBack).toEqual([])
  host.clock.time = Date.now() + 180_000
  expect((await drifts()).putBack).toEqual(['flanneld: change derived-file, its content is another one'])
})

test('a run that was cut is not worked against', async () => {
  const next = healPlan('two')
  publish(host, next)
  await applied(host, next, { through: 'node', secrets: { key: 'secret' } })
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  expect(await drifts()).toEqual({ putBack: [], beyond: [] })
})

test('what an operator has stopped is told', async () => {
  const signal = new AbortController().signal
  const emit = (): void => undefined
  await stopServices({ host, name: 'a', run: someRun, emit, signal }, { components: ['flanneld'] })
  expect((await lookAtDrift(host, plan)).stopped).toEqual(new Set(['flanneld']))
})

test('whoever looks again reads no file that is the same', async () => {
  const read: string[] = []
  const digest: typeof host.files.digest = async (path) => {
    read.push(path)
    return host.files.digest(path)
  }
  const watched = withKnownDigests({ ...host, files: { ...host.files, digest } })
  await lookAtDrift(watched, plan)
  expect(read).not.toEqual([])
  read.length = 0
  await lookAtDrift(watched, plan)
  expect(read).toEqual([])
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'two')
  const { putBack } = await lookAtDrift(watched, plan)
  expect(putBack.get('containerd')).toHaveLength(1)
  expect(read).toEqual(['/etc/hyperkube/containerd/config'])
})
