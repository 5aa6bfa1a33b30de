import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import { computeSha256 } from '../../../lab/windows/simulator/file-handlers.ts'
import { toSavedMachine, snapshotMachine } from '../../../lab/windows/simulator/machine-state.ts'
import { findProcess } from '../../../lab/windows/simulator/programs.ts'
import { advance } from '../../../lab/windows/simulator/time.ts'
import {
  createWindowsWorker,
  type WindowsWorker,
  createSharedFixture,
  type SharedWindowsFixture,
} from '../../../lab/windows/simulator/planned-worker.ts'
import { adminOnlySddl } from '../host/windows-operations/files.ts'
import { applyPlan } from './apply.ts'
import { diffHost } from './diff-host.ts'
import { applyAndListOps, someRunId } from './testing/fixtures.ts'
import { withCrashOnWindows } from './testing/crash-injection.ts'
import { runReset } from '../reset/reset.ts'

let shared: SharedWindowsFixture
/** A worker with an applied plan. Tests that need such a worker copy its state. */
let appliedWorker: WindowsWorker
let worker: WindowsWorker
beforeAll(async () => {
  shared = await createSharedFixture()
  worker = await createWindowsWorker(shared)
  appliedWorker = worker
  await applyToWorker()
})
afterAll(async () => appliedWorker[Symbol.asyncDispose]())
beforeEach(async () => {
  worker = await createWindowsWorker(shared)
})
afterEach(async () => worker[Symbol.asyncDispose]())

async function applyToWorker(plan: NodePlan = worker.plan): Promise<string[]> {
  const { host } = worker
  return applyAndListOps(host, plan, { certificates: await worker.sign(host, plan) })
}

/** Resets the worker to the state after its plan was applied. */
async function resetToApplied(): Promise<void> {
  await worker[Symbol.asyncDispose]()
  worker = await createWindowsWorker(shared, appliedWorker)
}

async function leave() {
  const { signal } = new AbortController()
  return runReset({ host: worker.host, name: 'win1', run: someRunId, emit: () => undefined, signal })
}

/** Returns hyperkube's running services, networks and firewall rules. */
function ownState() {
  const { services, networks, rules } = worker.machine
  return {
    running: [...services.values()].filter(({ state }) => state === 'Running').map(({ name }) => name),
    networks: networks.map(({ name }) => name),
    rules: [...rules.values()].filter(({ group }) => group === 'hyperkube').length,
  }
}

/** Returns everything observable on the host, except counters and temporary states. */
function observeAll({ machine }: WindowsWorker) {
  const { services, rules, environment, networks, endpoints, policies, adapters, routes } = toSavedMachine(
    machine,
    new Map(),
  )
  return {
    services,
    rules,
    environment,
    networks,
    endpoints,
    policies,
    adapters: adapters.map(({ downUntil: _until, ...rest }) => rest),
    routes: routes.toSorted((a, b) => (a.destination < b.destination ? -1 : 1)),
    files: machine.files
      .all()
      .map(({ path, directory, content, access }) => ({ path, directory, text: content.toString(), access })),
  }
}

/** Returns the part of the host's state that belongs to other software. */
function observeForeign(one: WindowsWorker) {
  const all = observeAll(one)
  const isForeign = (name: string): boolean => ['hns', 'kubelet-exporter', 'corp-backup'].includes(name)
  return {
    ...all,
    services: all.services.filter(([name]) => isForeign(name)),
    rules: all.rules.filter(([name]) => isForeign(name)),
    networks: all.networks.filter(({ name }) => name === 'nat'),
    endpoints: all.endpoints.filter(({ name }) => name === 'db'),
    policies: [],
    adapters: all.adapters.filter(({ name }) => name === 'Backup network'),
    routes: all.routes.filter(({ interfaceIndex }) => interfaceIndex === 9),
    files: all.files.filter(({ path }) => /^C:.(?:corp|Windows)/.test(path)),
  }
}

const settings = String.raw`C:\hyperkube\settings`
const programs = String.raw`C:\hyperkube\programs`

test('a first apply creates all resources in order, and a second apply has no ops', async () => {
  const foreign = observeForeign(worker)
  const lines = await applyToWorker()
  const starts = lines.filter((line) => line.startsWith('start '))
  expect(starts).toEqual([
    'start service hyperkube-agent',
    'start service apiserver-proxy',
    'start service containerd',
    'start service kubelet',
    'start service flanneld',
    'start service kube-proxy',
  ])
  expect(ownState()).toEqual({
    running: [
      'hns',
      'kubelet-exporter',
      'hyperkube-agent',
      'containerd',
      'apiserver-proxy',
      'kubelet',
      'flanneld',
      'kube-proxy',
    ],
    networks: ['nat', 'hyperkube-switch', 'flannel.4096'],
    rules: 5,
  })
  // kube-proxy's configuration is rendered before kube-proxy starts, from the source VIP that was reserved
  // after flanneld started.
  const config = `create derived-file ${settings}\\kube-proxy\\config.yaml`
  expect(lines.indexOf(config)).toBeLessThan(lines.indexOf('start service kube-proxy'))
  expect(worker.machine.policies).toMatchObject([{ sourceAddress: '10.244.3.2' }])
  expect(worker.machine.breaks).toBe(1)
  expect(await diffHost(worker.host, worker.plan)).toEqual({ ops: [], findings: [] })
  expect(await applyToWorker()).toEqual([])
  expect(observeForeign(worker)).toEqual(foreign)
})

test('a restarted agent finds no difference to the applied plan', async () => {
  await applyToWorker()
  await worker.save()
  const { host, machine } = await worker.reopen()
  expect(snapshotMachine(machine)).toEqual(snapshotMachine(worker.machine))
  expect(await diffHost(host, worker.plan)).toEqual({ ops: [], findings: [] })
})

/** An ordinary user of the host. */
const user = 'S-1-5-21-1-2-3-1001'

/** Returns an access list that gives access only to administrators, but has `owner` as owner. */
function sddlOf(owner: string): string {
  return adminOnlySddl.directory.replace('O:SY', `O:${owner}`)
}

const drifts: Readonly<Record<string, [spoil: (one: WindowsWorker) => Promise<unknown> | void, op: string]>> =
  {
    'the access list of a directory': [
      async ({ host }) => host.operations.files.grant({ path: `${settings}\\kubelet`, sddl: 'O:SYG:SYD:AI' }),
      `change directory ${settings}\\kubelet`,
    ],
    'the owner of a directory': [
      async ({ host }) => host.operations.files.grant({ path: `${settings}\\kubelet`, sddl: sddlOf(user) }),
      `change directory ${settings}\\kubelet`,
    ],
    'the owner of a running program': [
      async ({ host }) =>
        host.operations.files.grant({
          path: `${programs}\\kubelet-1.37.1\\kubelet.exe`,
          sddl: `O:${user}G:SYD:AI`,
        }),
      'change artifact kubelet-1.37.1',
    ],
    'an artifact': [
      async ({ toLocalPath }) =>
        writeFile(toLocalPath(`${programs}\\cni-plugins-1.9.1\\host-local.exe`), 'another'),
      'change artifact cni-plugins-1.9.1',
    ],
    'a running artifact': [
      async ({ toLocalPath }) => appendFile(toLocalPath(`${programs}\\shawl-1.9.0\\readme.txt`), 'foreign'),
      'change artifact shawl-1.9.0',
    ],
    'a file': [
      async ({ toLocalPath }) => writeFile(toLocalPath(`${settings}\\kubelet\\config.yaml`), 'another'),
      `change file ${settings}\\kubelet\\config.yaml`,
    ],
    'a derived file': [
      async ({ toLocalPath }) => rm(toLocalPath(String.raw`C:\etc\cni\net.d\10-flannel.conflist`)),
      String.raw`create derived-file C:\etc\cni\net.d\10-flannel.conflist`,
    ],
    'the configuration of kube-proxy': [
      async ({ toLocalPath }) => writeFile(toLocalPath(`${settings}\\kube-proxy\\config.yaml`), 'another'),
      `change derived-file ${settings}\\kube-proxy\\config.yaml`,
    ],
    'a certificate': [
      async ({ toLocalPath }) => rm(toLocalPath(`${settings}\\kubelet\\client.key`)),
      `change certificate ${settings}\\kubelet\\client.crt`,
    ],
    'a firewall rule': [
      ({ machine }) => void machine.rules.delete('hyperkube-kubelet'),
      'create firewall-rule hyperkube-kubelet',
    ],
    'a service': [
      ({ machine }) => void Object.assign(machine.services.get('kubelet') ?? {}, { description: 'another' }),
      'change service kubelet',
    ],
    'a stopped service': [
      async ({ host }) => host.operations.services.stop({ name: 'flanneld' }),
      'start service flanneld',
    ],
    'an image': [({ machine }) => machine.images.clear(), 'create image registry.k8s.io/pause:3.10.2'],
  }

test.each(Object.entries(drifts))('drift of %s is repaired', async (_name, [spoil, op]) => {
  await resetToApplied()
  await spoil(worker)
  advance(worker.machine, 5000)
  expect(await applyToWorker()).toContain(op)
  expect((await diffHost(worker.host, worker.plan)).ops).toEqual([])
  expect(worker.machine.files.all().filter(({ access }) => access.includes(user))).toEqual([])
  expect(ownState().running).toHaveLength(8)
})

test('a directory with content that another user created in advance is refused at every attempt', async () => {
  const { host, toLocalPath } = worker
  const directory = String.raw`C:\etc\cni\net.d`
  await mkdir(toLocalPath(directory), { recursive: true })
  await writeFile(toLocalPath(`${directory}\\00-planted.conflist`), 'planted')
  await host.operations.files.grant({ path: directory, sddl: sddlOf(user) })
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(applyToWorker()).rejects.toMatchObject({ code: 'APPLY_FOREIGN_OWNER' })
})

test('a new version is installed beside the previous one, which is removed once nothing runs from it', async () => {
  await resetToApplied()
  const before = findProcess(worker.machine, 'containerd')
  const lines = await applyToWorker(worker.upgraded)
  expect(lines).toContain('create artifact kubelet-1.37.2')
  expect(lines).toContain('restart service kubelet')
  expect(lines).toContain('remove artifact kubelet-1.37.1')
  expect(lines.indexOf('remove artifact kubelet-1.37.1')).toBeGreaterThan(
    lines.indexOf('restart service kubelet'),
  )
  const kubelet = findProcess(worker.machine, 'kubelet')
  expect(kubelet?.sha256).toBe(computeSha256('the program kubelet 1.37.2'))
  // containerd keeps running, because only the program of the kubelet changed.
  expect(findProcess(worker.machine, 'containerd')).toBe(before)
  expect(await diffHost(worker.host, worker.upgraded)).toEqual({ ops: [], findings: [] })
})

test('a previous version that still runs is reported, and removed later', async () => {
  await resetToApplied()
  const { machine, host } = worker
  const path = `${programs}\\kubelet-1.37.1\\kubelet.exe`
  machine.processes.set(999, {
    id: 999,
    service: 'still-running',
    program: path,
    image: machine.files.at(path)?.id ?? '',
    sha256: '',
    damaged: false,
    parent: 1,
    network: undefined,
    startedAt: 0,
  })
  await applyToWorker(worker.upgraded)
  const pending = (await diffHost(host, worker.upgraded)).ops
  expect(pending).toMatchObject([{ action: 'remove', target: 'artifact', name: 'kubelet-1.37.1' }])
  machine.processes.delete(999)
  await applyToWorker(worker.upgraded)
  expect((await diffHost(host, worker.upgraded)).ops).toEqual([])
})

test('a reset restores the state from before the first apply', async () => {
  const before = observeAll(worker)
  await applyToWorker()
  const { report, exitHook } = await leave()
  expect(exitHook).toBeUndefined()
  expect(report.flatMap(({ inUse = [] }) => inUse)).toEqual([])
  advance(worker.machine, 30_000)
  expect(observeAll(worker)).toEqual(before)
})

test('a reset reports files that stay because the agent itself runs from them', async () => {
  await resetToApplied()
  const { host, machine } = worker
  const pid = machine.services.get('hyperkube-agent')?.process ?? 0
  const lines: string[] = []
  const { signal } = new AbortController()
  const { report, exitHook } = await runReset({
    host: { ...host, release: { ...host.release, pid } },
    name: 'win1',
    run: someRunId,
    emit: (what) => lines.push(...(what.type === 'log' ? what.lines : [])),
    signal,
  })
  expect(exitHook).toBeDefined()
  expect(report.flatMap(({ inUse = [] }) => inUse)).toEqual([programs])
  expect(lines.some((line) => line.includes('is still in use'))).toBe(true)
  // Only the two running programs are left.
  const left = machine.files
    .all()
    .filter(({ path, directory }) => path.startsWith('C:\\hyperkube') && !directory)
  expect(left.map(({ path }) => path)).toEqual([
    `${programs}\\hyperkube-0.1.0\\hyperkube.exe`,
    `${programs}\\shawl-1.9.0\\shawl.exe`,
  ])
})

test('a foreign service of the same name is left alone and reported', async () => {
  const { machine } = worker
  const foreign = machine.services.get('kubelet-exporter')
  if (foreign !== undefined) machine.services.set('kubelet', { ...foreign, name: 'kubelet' })
  await expect(applyToWorker()).rejects.toMatchObject({ code: 'APPLY_SERVICE_TAKEN', component: 'kubelet' })
  expect(machine.services.get('kubelet')).toMatchObject({
    commandLine: foreign?.commandLine,
    state: 'Running',
  })
})

test.each([151, 397])(
  'an apply that is killed after every %i calls and continued ends in the same state',
  async (every) => {
    const { host, plan } = worker
    const certificates = await worker.sign(host, plan)
    let runs = 0
    for (let done = false; !done; runs++) {
      const crash = { calls: 0, ends: 2 * every + (runs % 2) }
      done = await applyAndListOps(withCrashOnWindows(host, crash), plan, { certificates }).then(
        () => true,
        (error: unknown) => {
          if (crash.calls <= every) throw error
          return false
        },
      )
      // Allows the next run more calls before it is killed. Each run first inspects the host, and this takes
      // more calls as more of the plan is applied.
      every += 20
    }
    expect(runs).toBeGreaterThan(3)
    expect((await diffHost(host, plan)).ops).toEqual([])
    await using other = await createWindowsWorker(shared)
    await applyAndListOps(other.host, plan, { certificates: await other.sign(other.host, plan) })
    const settled = (one: WindowsWorker) => {
      const { services, rules, networks, routes, files } = observeAll(one)
      return {
        services: services.map(([name, { commandLine, state }]) => ({ name, commandLine, state })),
        rules,
        networks: networks.map(({ name, type, subnet }) => ({ name, type, subnet })),
        routes: routes.map(({ destination }) => destination),
        files: files
          .filter(({ path }) => !/state.agent|\.(?:crt|key)$/.test(path))
          .map(({ path, access }) => ({ path, access })),
      }
    }
    expect(settled(worker)).toEqual(settled(other))
  },
)

test('an apply that is aborted after every three ops and continued completes the plan', async () => {
  const { host, plan } = worker
  const certificates = await worker.sign(host, plan)
  let runs = 0
  for (let left = true; left; runs++) {
    const stop = new AbortController()
    let ended = 0
    left = await applyPlan({
      host,
      plan,
      through: 'network',
      secrets: new Map(),
      certificates,
      run: someRunId,
      // Aborts the run after three ops. More aborts would make the test slow, because each run first inspects
      // the whole host.
      emit: (what) => void (what.type === 'op-ended' && ++ended === 3 && stop.abort()),
      signal: stop.signal,
    }).then(
      () => false,
      () => true,
    )
  }
  expect(runs).toBeGreaterThan(20)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
  expect(ownState().running).toHaveLength(8)
})
