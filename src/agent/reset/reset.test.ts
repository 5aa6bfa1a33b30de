import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import type { LinuxHost } from '../host/host.ts'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import { listFilesBelow } from '../resources/artifact-files.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
  someRunId,
} from '../apply/testing/fixtures.ts'
import { Killed, withCrash } from '../apply/testing/crash-injection.ts'
import { type ResetResult, runReset } from './reset.ts'

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await createTemporaryHost()
  await writeFile(host.toLocalPath('/etc/crictl.yaml'), 'theirs')
  await mkdir(host.toLocalPath('/var/lib/etcd'), { mode: 0o755 })
})
afterEach(async () => host[Symbol.asyncDispose]())

const plan = buildPlanWithHost(
  buildComponent({
    name: 'extra',
    stage: 'prepare',
    modules: ['overlay'],
    sysctls: { 'vm.swappiness': '1' },
    files: [
      {
        path: '/etc/crictl.yaml',
        owner: 'root',
        mode: '0644',
        content: { kind: 'text', text: 'ours' },
        restart: false,
      },
      {
        path: '/srv/a/b',
        owner: 'root',
        mode: '0644',
        content: { kind: 'text', text: 'ours' },
        restart: false,
      },
    ],
  }),
  runningComponent('etcd', '1', {
    directories: [
      { path: '/var/lib/etcd', owner: 'etcd', mode: '0700' },
      { path: '/etc/hyperkube/etcd', owner: 'etcd', mode: '0700' },
    ],
  }),
  runningComponent('kubelet', '1'),
)

async function resetHost(on: LinuxHost = host): Promise<ResetResult> {
  return runReset({
    host: on,
    name: 'a',
    run: someRunId,
    emit: () => undefined,
    signal: new AbortController().signal,
  })
}

async function everything(): Promise<unknown> {
  const facts = await host.files.stat('/var/lib/etcd')
  return {
    files: await listFilesBelow(host.files, '/'),
    top: (await host.files.list('/'))?.map(({ name }) => name).toSorted(),
    lib: (await host.files.list('/var/lib'))?.map(({ name }) => name).toSorted(),
    etcd: { mode: facts?.mode, uid: facts?.uid },
    users: [...host.users.names],
    settings: [...host.kernel.settings],
    units: [...host.services.units.keys()],
  }
}

async function setUp(): Promise<void> {
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  // Files that programs write in addition to the resources of the plan.
  await writeFile(host.toLocalPath('/var/lib/etcd/data'), '')
  await mkdir(host.toLocalPath('/var/lib/kubelet/pods'), { recursive: true })
  await writeFile(host.toLocalPath('/etc/hyperkube/etcd/orphan'), '')
}

test('a reset removes all resources of hyperkube and restores the previous state', async () => {
  const before = await everything()
  await setUp()
  const { report } = await resetHost()
  expect(await everything()).toEqual(before)
  expect(report.find(({ step }) => step === 'data')?.removed).toEqual(['/var/lib/etcd', '/var/lib/kubelet'])
})

test('a reset of a host without hyperkube changes nothing', async () => {
  const before = await everything()
  expect(await resetHost()).toEqual({ report: [], exitHook: undefined })
  expect(await everything()).toEqual(before)
})

test('the data directory of a component that is not planned stays', async () => {
  await mkdir(host.toLocalPath('/var/lib/containerd/theirs'), { recursive: true })
  await setUp()
  await resetHost()
  expect(await host.files.list('/var/lib/containerd')).toHaveLength(1)
})

test('a reset that is interrupted at any point can be repeated', async () => {
  const before = await everything()
  for (let ends = 0; ; ends += 7) {
    await setUp()
    const killed = await runReset({
      host: withCrash(host, { calls: 0, ends }),
      name: 'a',
      run: someRunId,
      emit: () => undefined,
      signal: new AbortController().signal,
    }).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    await resetHost()
    expect(await everything()).toEqual(before)
    if (!killed) break
  }
})

test('an agent without a plan is removed, and stops itself last', async () => {
  const before = await everything()
  const unit = 'hyperkube-agent.service'
  for (const directory of [
    '/run/hyperkube',
    '/opt/hyperkube/hyperkube-0.1.0',
    '/var/lib/hyperkube/agent/runs',
  ])
    await mkdir(host.toLocalPath(directory), { recursive: true })
  await writeFile(host.toLocalPath(`/etc/systemd/system/${unit}`), '')
  await host.services.reload()
  await host.services.enable([unit])
  await host.services.start(unit)
  const { pid } = await host.services.show(unit)
  const { exitHook } = await resetHost({ ...host, release: { ...host.release, pid } })
  expect(host.services.calls).not.toContain(`stop ${unit}`)
  expect((await host.services.show(unit)).load).toBe('not-found')
  await exitHook?.()
  expect(host.services.calls.at(-1)).toBe(`stop ${unit}`)
  await host.services.forget(unit)
  expect(await everything()).toEqual(before)
})

test('the systemd slice of pods is stopped', async () => {
  await setUp()
  let slice = 'active'
  const own = host.services
  const services: LinuxHost['services'] = {
    ...own,
    show: async (unit) => ({
      ...(await own.show(unit)),
      ...(unit === 'kubepods.slice' ? { active: slice } : {}),
    }),
    async stop(unit) {
      if (unit === 'kubepods.slice') slice = 'inactive'
      else await own.stop(unit)
    },
  }
  await resetHost({ ...host, services })
  expect(slice).toBe('inactive')
})
