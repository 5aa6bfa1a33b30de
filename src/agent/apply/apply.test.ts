import { readFile, rm, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ComponentPlan, Stage } from '../../contract/component-plan.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { applyPlan } from './apply.ts'
import { diffHost } from './diff-host.ts'
import { listDownloadPaths } from '../resources/download.ts'
import { ledgerPath, readLedger } from '../records/ledger.ts'
import type { EmitRunEvent } from '../records/run-op.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  buildProgram,
  publishPrograms,
  runningComponent,
  someRunId,
} from './testing/fixtures.ts'

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await createTemporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

async function read(path: string): Promise<string> {
  return readFile(host.toLocalPath(path), 'utf8')
}

test('an apply creates all resources of a plan, and a second apply has no ops', async () => {
  const plan = buildPlanWithHost(
    runningComponent('etcd', '1', { stage: 'etcd', sysctls: { 'vm.swappiness': '1' } }),
  )
  publishPrograms(host, plan)
  expect(await applyAndListOps(host, plan)).toEqual([
    'create directory /etc/hyperkube',
    'create directory /var/lib/hyperkube: unchanged',
    'create directory /var/log/hyperkube',
    'create directory /opt/hyperkube: unchanged',
    'create user etcd',
    'create sysctl vm.swappiness',
    'create directory /etc/hyperkube/etcd',
    'create artifact etcd-1',
    'create file /etc/hyperkube/etcd/config',
    'create service etcd.service',
    'start service etcd.service',
  ])
  expect(await read('/opt/hyperkube/etcd-1/etcd')).toBe('#!/bin/sh\necho etcd 1\n')
  expect(host.kernel.settings.get('vm.swappiness')).toBe('1')
  expect(await host.files.stat('/etc/systemd/system/etcd.service')).toMatchObject({ mode: 0o600 })
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
  expect(await applyAndListOps(host, plan)).toEqual([])
})

test('an apply up to a stage leaves later stages unchanged, but downloads all artifacts', async () => {
  const plan = buildPlanWithHost(
    runningComponent('etcd', '1', { stage: 'etcd' }),
    runningComponent('kubelet', '1'),
  )
  publishPrograms(host, plan)
  await applyAndListOps(host, plan, { through: 'etcd' })
  const { ops } = await diffHost(host, plan)
  expect(new Set(ops.map(({ component }) => component))).toEqual(new Set(['kubelet']))
  // Artifacts of all stages were downloaded during the first stage.
  expect(host.fetch.requestedUrls).toHaveLength(2)
  await applyAndListOps(host, plan)
  expect(host.fetch.requestedUrls).toHaveLength(2)
})

test('a change restarts the service once, and the previous version is removed', async () => {
  const before = buildPlanWithHost(runningComponent('etcd', '1'))
  const after = buildPlanWithHost(runningComponent('etcd', '2', { text: 'two' }))
  publishPrograms(host, before)
  publishPrograms(host, after)
  await applyAndListOps(host, before)
  expect(await applyAndListOps(host, after)).toEqual([
    'create artifact etcd-2',
    'change file /etc/hyperkube/etcd/config',
    'change service etcd.service',
    'restart service etcd.service',
    'remove artifact etcd-1',
  ])
  expect(host.services.units.get('etcd.service')).toMatchObject({ starts: 2, state: 'active' })
})

/** A control plane whose API server needs the etcd member of the host. */
function controlPlane(version: string) {
  return buildPlanWithHost(
    runningComponent('etcd', version, { stage: 'etcd' }),
    runningComponent('kube-apiserver', version, { stage: 'api', needs: ['etcd'] }),
    runningComponent('kube-scheduler', version, { stage: 'controllers', needs: ['kube-apiserver'] }),
  )
}

/** Applies two plans and lists the service calls that the second plan causes. */
async function changeControlPlane(through: Stage): Promise<string[]> {
  const [current, next] = [controlPlane('1'), controlPlane('2')]
  publishPrograms(host, current)
  publishPrograms(host, next)
  await applyAndListOps(host, current)
  host.services.calls.length = 0
  await applyAndListOps(host, next, { through })
  return host.services.calls.filter((call) => !/^(reload|enable)/.test(call))
}

test('an API server that restarts in the same run stops before its etcd member restarts', async () => {
  expect(await changeControlPlane('controllers')).toEqual([
    'stop kube-apiserver.service',
    'restart etcd.service',
    'restart kube-apiserver.service',
    // kube-scheduler does not use etcd directly, so the run does not stop it before it restarts etcd.
    'restart kube-scheduler.service',
  ])
  expect(await diffHost(host, controlPlane('2'))).toEqual({ ops: [], findings: [] })
})

test('an API server that this run does not restart keeps running', async () => {
  expect(await changeControlPlane('etcd')).toEqual(['restart etcd.service'])
})

test('an API server whose etcd member does not run is not stopped first', async () => {
  const [current, next] = [controlPlane('1'), controlPlane('2')]
  publishPrograms(host, current)
  publishPrograms(host, next)
  await applyAndListOps(host, current)
  await host.services.stop('etcd.service')
  host.services.calls.length = 0
  await applyAndListOps(host, next)
  expect(host.services.calls).not.toContain('stop kube-apiserver.service')
})

test('resources that are no longer planned are removed', async () => {
  publishPrograms(host, buildPlanWithHost(runningComponent('etcd', '1')))
  await applyAndListOps(host, buildPlanWithHost(runningComponent('etcd', '1')))
  expect(await applyAndListOps(host, buildPlanWithHost())).toEqual([
    'stop service etcd.service',
    'remove service etcd.service',
    'remove file /etc/hyperkube/etcd/config',
    'remove artifact etcd-1',
    'remove directory /etc/hyperkube/etcd',
    'remove user etcd',
  ])
  expect([...host.users.names]).toEqual(['root'])
  expect(host.services.units.size).toBe(0)
})

test('manual changes are reported as drift and repaired, and nothing else is changed', async () => {
  const plan = buildPlanWithHost(
    runningComponent('etcd', '1', { sysctls: { 'vm.swappiness': '1' } }),
    runningComponent('kubelet', '1'),
  )
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  await writeFile(host.toLocalPath('/etc/hyperkube/etcd/config'), 'by hand')
  await writeFile(host.toLocalPath('/etc/hyperkube/etcd/orphan'), '')
  await writeFile(host.toLocalPath('/opt/hyperkube/etcd-1/etcd'), 'replaced')
  await rm(host.toLocalPath('/etc/hyperkube/kubelet'), { recursive: true })
  host.kernel.settings.set('vm.swappiness', '60')
  const { findings } = await diffHost(host, plan)
  expect(findings.map(({ message }) => message)).toEqual([
    'sysctl vm.swappiness drifted: it is 60, not 1',
    'artifact etcd-1 drifted: the content of etcd changed',
    'file /etc/hyperkube/etcd/config drifted: content changed',
    'directory /etc/hyperkube/kubelet drifted: missing',
    'file /etc/hyperkube/kubelet/config drifted: missing',
    '/etc/hyperkube/etcd/orphan is in a directory of hyperkube, but belongs to no component',
  ])
  expect(await applyAndListOps(host, plan)).toEqual([
    'change sysctl vm.swappiness',
    'change artifact etcd-1',
    'change file /etc/hyperkube/etcd/config',
    'create directory /etc/hyperkube/kubelet',
    'create file /etc/hyperkube/kubelet/config',
    // The run restarts both services, then waits for both.
    'restart service etcd.service',
    'restart service kubelet.service',
    'remove file /etc/hyperkube/etcd/orphan',
  ])
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('a service that was stopped or disabled by hand runs again, without a restart', async () => {
  const plan = buildPlanWithHost(runningComponent('etcd', '1'), runningComponent('kubelet', '1'))
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  await host.services.stop('etcd.service')
  await host.services.disable('kubelet.service')
  expect(await applyAndListOps(host, plan)).toEqual([
    'start service etcd.service',
    'start service kubelet.service',
  ])
  expect(host.services.units.get('etcd.service')?.starts).toBe(2)
  expect(host.services.units.get('kubelet.service')?.starts).toBe(1)
})

test('a service that does not start fails the run with its last log lines', async () => {
  const plan = buildPlanWithHost(
    runningComponent('etcd', '1', { stage: 'etcd' }),
    runningComponent('kubelet', '1'),
  )
  publishPrograms(host, plan)
  host.services.broken.add('etcd.service')
  await expect(applyAndListOps(host, plan)).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
    host: 'a',
    component: 'etcd',
    message: expect.stringContaining('etcd.service: the last line'),
  })
  host.services.broken.clear()
  const again = await applyAndListOps(host, plan)
  expect(again[0]).toBe('start service etcd.service')
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('new services of all stages are started before the run waits for any of them', async () => {
  const plan = buildPlanWithHost(
    runningComponent('etcd', '1', { stage: 'etcd' }),
    runningComponent('kubelet', '1'),
  )
  publishPrograms(host, plan)
  const systemd = { ...host.services }
  host.services.showAll = async (units) => {
    const states = await systemd.showAll(units)
    // In this test, etcd becomes ready only while the kubelet runs.
    const isReady = host.services.units.get('kubelet.service')?.state === 'active'
    return states.map((state) =>
      isReady || state.active !== 'active' ? state : { ...state, active: 'activating' },
    )
  }
  const ops = await applyAndListOps(host, plan)
  expect(ops.slice(-2)).toEqual(['start service etcd.service', 'start service kubelet.service'])
  expect(host.services.calls).not.toContain('reload')
})

test('new services are queried together, and a foreign one that runs is restarted', async () => {
  const plan = buildPlanWithHost(
    runningComponent('etcd', '1', { stage: 'etcd' }),
    runningComponent('containerd', '1', { stage: 'node' }),
  )
  publishPrograms(host, plan)
  const foreign = '[Service]\nExecStart=/usr/bin/containerd\n'
  await writeFile(host.toLocalPath('/etc/systemd/system/containerd.service'), foreign)
  await host.services.reload()
  await host.services.start('containerd.service')
  const queries: string[] = []
  const show: typeof host.services.show = async (unit) => {
    queries.push(unit)
    return host.services.show(unit)
  }
  await applyAndListOps({ ...host, services: { ...host.services, show } }, plan)
  expect(queries).toEqual([])
  expect(host.services.units.get('containerd.service')).toMatchObject({ starts: 2, state: 'active' })
  expect(host.services.units.get('etcd.service')).toMatchObject({ starts: 1, state: 'active' })
})

test('a changed service that does not start stops the run before the next stage', async () => {
  const planFor = (version: string) =>
    buildPlanWithHost(
      runningComponent('etcd', version, { stage: 'etcd' }),
      runningComponent('kubelet', version),
    )
  for (const version of ['1', '2']) publishPrograms(host, planFor(version))
  await applyAndListOps(host, planFor('1'))
  host.services.broken.add('etcd.service')
  await expect(applyAndListOps(host, planFor('2'))).rejects.toMatchObject({ component: 'etcd' })
  expect(host.services.units.get('kubelet.service')?.starts).toBe(1)
})

test('the supervisor is reloaded for a changed unit', async () => {
  const plan = buildPlanWithHost(runningComponent('etcd', '1', { stage: 'etcd' }))
  const next = buildPlanWithHost(runningComponent('etcd', '2', { stage: 'etcd' }))
  for (const one of [plan, next]) publishPrograms(host, one)
  await applyAndListOps(host, plan)
  await applyAndListOps(host, next)
  expect(host.services.calls).toContain('reload')
  expect(host.services.units.get('etcd.service')?.text).toContain('etcd-2')
})

test('an artifact with a wrong digest is refused before the first op', async () => {
  const plan = buildPlanWithHost(runningComponent('etcd', '1'))
  publishPrograms(host, plan)
  host.remoteFiles.set('https://example.org/etcd-1', Buffer.from('something else'))
  await expect(applyAndListOps(host, plan)).rejects.toMatchObject({
    code: 'APPLY_WRONG_DIGEST',
    component: 'etcd',
  })
  expect(await readLedger(host)).toBeUndefined()
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
})

test('a plan for another cluster is refused', async () => {
  await applyAndListOps(host, buildPlanWithHost())
  const foreign = {
    ...buildPlanWithHost(),
    cluster: { name: 'other', id: '0d0f6f4e-1b9f-4f6c-8a53-5a2b1b0c9d8e' },
  }
  await expect(applyAndListOps(host, foreign)).rejects.toMatchObject({ code: 'APPLY_OTHER_CLUSTER' })
  await expect(diffHost(host, foreign)).rejects.toMatchObject({ code: 'APPLY_OTHER_CLUSTER' })
})

test('a secret is compared by its digest, and never written to ledger or journal', async () => {
  const plan = buildPlanWithHost(
    buildComponent({
      name: 'x',
      directories: [{ path: '/etc/hyperkube/x', owner: 'root', mode: '0700' }],
      files: [
        {
          path: '/etc/hyperkube/x/key',
          owner: 'root',
          mode: '0600',
          content: { kind: 'secret', secret: 'key', tag: 'one' },
          restart: false,
        },
      ],
    }),
  )
  await expect(applyAndListOps(host, plan)).rejects.toMatchObject({ code: 'APPLY_NO_SECRET' })
  await applyAndListOps(host, plan, { secrets: { key: 'hidden' } })
  expect(await read('/etc/hyperkube/x/key')).toBe('hidden')
  expect((await diffHost(host, plan)).ops).toEqual([])
  await writeFile(host.toLocalPath('/etc/hyperkube/x/key'), 'other')
  expect((await diffHost(host, plan)).ops).toHaveLength(1)
  await applyAndListOps(host, plan, { secrets: { key: 'hidden' } })
  for (const name of ['ledger.json', 'journal.ndjson']) {
    expect(await read(`/var/lib/hyperkube/agent/${name}`)).not.toContain('hidden')
  }
})

test('a file that existed before is restored when the planned file is removed', async () => {
  const path = '/etc/crictl.yaml'
  await writeFile(host.toLocalPath(path), 'theirs')
  const plan = buildPlanWithHost(
    buildComponent({
      name: 'x',
      files: [{ path, owner: 'root', mode: '0644', content: { kind: 'text', text: 'ours' }, restart: false }],
    }),
  )
  await applyAndListOps(host, plan)
  expect(await read(path)).toBe('ours')
  expect(await read(`${path}.before-hyperkube`)).toBe('theirs')
  await applyAndListOps(host, buildPlanWithHost())
  expect(await read(path)).toBe('theirs')
  expect(await host.files.stat(`${path}.before-hyperkube`)).toBeUndefined()
})

test('an abort ends the run between two ops, and the next run continues', async () => {
  const plan = buildPlanWithHost(runningComponent('etcd', '1'))
  publishPrograms(host, plan)
  const abort = new AbortController()
  const users = {
    ...host.users,
    create: async (name: string) => {
      await host.users.create(name)
      abort.abort()
    },
  }
  await expect(applyAndListOps({ ...host, users }, plan, { signal: abort.signal })).rejects.toThrow('aborted')
  expect((await readLedger(host))?.resources.at(-1)).toMatchObject({ target: 'user', name: 'etcd' })
  expect((await applyAndListOps(host, plan))[0]).toBe('create directory /etc/hyperkube/etcd')
})

const own: ComponentPlan = buildComponent({
  name: 'hyperkube-agent',
  stage: 'prepare',
  artifacts: [
    {
      from: 'this-release',
      name: 'hyperkube',
      version: '0.1.0',
      directory: '/opt/hyperkube/hyperkube-0.1.0',
    },
  ],
  service: { supervisor: 'systemd', name: 'hyperkube-agent.service', unit: '[Service]\n' },
})

test('hyperkube is installed in a directory of its version, and the current link points to it', async () => {
  const plan = buildPlanWithHost(own)
  await applyAndListOps(host, plan)
  const { executable } = host.release
  expect(await read('/opt/hyperkube/hyperkube-0.1.0/hyperkube')).toBe(await readFile(executable, 'utf8'))
  expect(await host.files.readLink('/opt/hyperkube/current')).toBe('/opt/hyperkube/hyperkube-0.1.0')
  await host.files.makeLink('/opt/hyperkube/current', '/elsewhere')
  expect((await diffHost(host, plan)).findings[0]?.message).toContain(
    '/opt/hyperkube/current points to another release',
  )
  await applyAndListOps(host, plan)
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('a plan of another release is refused', async () => {
  const other = { ...host, release: { ...host.release, version: '0.2.0' } }
  await expect(applyAndListOps(other, buildPlanWithHost(own))).rejects.toMatchObject({
    code: 'APPLY_OTHER_RELEASE',
  })
})

test('the restart of the agent itself is the last op of a run', async () => {
  publishPrograms(host, buildPlanWithHost(runningComponent('etcd', '1')))
  await applyAndListOps(host, buildPlanWithHost(own, runningComponent('etcd', '1')))
  const { pid } = await host.services.show('hyperkube-agent.service')
  const us = { ...host, release: { ...host.release, pid } }
  const service = {
    supervisor: 'systemd',
    name: 'hyperkube-agent.service',
    unit: '[Service]\n# new\n',
  } as const
  const plan = buildPlanWithHost({ ...own, service }, runningComponent('etcd', '1', { text: 'two' }))
  expect(await applyAndListOps(us, plan)).toEqual([
    'change service hyperkube-agent.service',
    'change file /etc/hyperkube/etcd/config',
    'restart service etcd.service',
    'restart service hyperkube-agent.service',
  ])
  expect(host.services.calls.at(-1)).toBe('restart hyperkube-agent.service')
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('an agent that already runs the new release is not restarted', async () => {
  await applyAndListOps(host, buildPlanWithHost(own))
  const { pid } = await host.services.show('hyperkube-agent.service')
  const us = { ...host, release: { ...host.release, version: '0.2.0', pid } }
  const directory = '/opt/hyperkube/hyperkube-0.2.0'
  const artifacts = [{ from: 'this-release', name: 'hyperkube', version: '0.2.0', directory }] as const
  const plan = buildPlanWithHost({ ...own, artifacts: [...artifacts] })
  expect(await applyAndListOps(us, plan)).toEqual([
    'create artifact hyperkube-0.2.0',
    'restart service hyperkube-agent.service: unchanged',
    'remove artifact hyperkube-0.1.0',
  ])
  expect(host.services.units.get('hyperkube-agent.service')?.starts).toBe(1)
  expect((await diffHost(us, plan)).ops).toEqual([])
})

test('no service is started if another op of its stage fails', async () => {
  const broken = buildComponent({ name: 'b', images: [], sysctls: { 'no.such.setting': '1' } })
  const plan = buildPlanWithHost(runningComponent('etcd', '1'), broken)
  publishPrograms(host, plan)
  const events: string[] = []
  const emit: EmitRunEvent = (what) => {
    if (what.type === 'op-ended' && what.result.outcome !== 'done')
      events.push(`${what.op.name} ${what.result.outcome}`)
  }
  const options = { secrets: new Map(), certificates: new Map(), run: someRunId, through: 'network' } as const
  const signal = new AbortController().signal
  await expect(applyPlan({ host, plan, ...options, emit, signal })).rejects.toMatchObject({
    code: 'APPLY_NO_SETTING',
  })
  expect(events.at(-1)).toBe('no.such.setting failed')
  expect(host.services.calls).toEqual([])
})

test('a derived file is written once the service has written its source', async () => {
  const waiting = await createTemporaryHost(async () => {
    await writeFile(waiting.toLocalPath('/run/subnet.env'), 'SUBNET=10.244.3.1/24\n')
    return ''
  })
  await using _ = waiting
  const derived = {
    path: '/etc/cni/net.d/net',
    owner: 'root',
    mode: '0600',
    from: '/run/subnet.env',
    template: '${SUBNET|network}',
  }
  const plan = buildPlanWithHost(
    runningComponent('flanneld', '1', { stage: 'network', derivedFiles: [derived] }),
  )
  publishPrograms(waiting, plan)
  expect((await applyAndListOps(waiting, plan)).slice(-2)).toEqual([
    'start service flanneld.service',
    'create derived-file /etc/cni/net.d/net',
  ])
  expect(await readFile(waiting.toLocalPath('/etc/cni/net.d/net'), 'utf8')).toBe('10.244.3.0/24')
  await writeFile(waiting.toLocalPath('/run/subnet.env'), 'SUBNET=10.244.7.1/24\n')
  expect(await applyAndListOps(waiting, plan)).toEqual(['change derived-file /etc/cni/net.d/net'])
  // After a boot the source file is missing until the service writes it again. The diff must not treat this
  // as drift.
  await rm(waiting.toLocalPath('/run/subnet.env'))
  expect((await diffHost(waiting, plan)).ops).toEqual([])
})

test('a run reports the file that it waits for, and an abort ends the wait', async () => {
  const derived = { path: '/etc/net', owner: 'root', mode: '0600', from: '/run/never', template: '${A}' }
  const plan = buildPlanWithHost(runningComponent('flanneld', '1', { derivedFiles: [derived] }))
  publishPrograms(host, plan)
  const abort = new AbortController()
  const events: string[] = []
  const emit: EmitRunEvent = (what) => {
    if (what.type === 'waiting') events.push(what.for)
    if (events.length === 3) abort.abort()
  }
  const options = { secrets: new Map(), certificates: new Map(), run: someRunId, through: 'network' } as const
  await expect(applyPlan({ host, plan, ...options, emit, signal: abort.signal })).rejects.toThrow('aborted')
  expect(events).toEqual(Array.from({ length: 3 }, () => '/run/never, which flanneld writes'))
})

test('after the loss of its ledger, a host is inspected again and not changed', async () => {
  const plan = buildPlanWithHost(own, runningComponent('etcd', '1', { stage: 'etcd' }))
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  await rm(host.toLocalPath('/var/lib/hyperkube/agent/ledger.json'))
  expect((await applyAndListOps(host, plan)).filter((line) => !line.endsWith('unchanged'))).toEqual([])
  expect(host.fetch.requestedUrls).toHaveLength(1)
  expect(host.services.units.get('etcd.service')?.starts).toBe(1)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('downloads that an interrupted run left are removed by the next run', async () => {
  const artifact = buildProgram('tools', '1')
  const plan = buildPlanWithHost(buildComponent({ name: 'tools', stage: 'node', artifacts: [artifact] }))
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  if (artifact.from !== 'url') throw new Error('it is fetched')
  const left = listDownloadPaths(artifact)
  for (const path of left) await writeFile(host.toLocalPath(path), 'what was in it')
  await host.files.remove(ledgerPath(host))
  await applyAndListOps(host, plan)
  for (const path of left) expect(await host.files.stat(path)).toBeUndefined()
})
