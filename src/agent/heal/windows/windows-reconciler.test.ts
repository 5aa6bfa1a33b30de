import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { HealAction } from '../../../contract/health.ts'
import { applyAndListOps } from '../../apply/testing/fixtures.ts'
import { readJournal } from '../../records/journal.ts'
import { openHealState } from '../heal-state-store.ts'
import { OperatorLockStore } from '../../operator-lock/operator-lock-store.ts'
import { RunEventLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import { type StepBackoff, defaultBackoff, legacyScriptBackoff } from '../../windows-worker/backoff.ts'
import { type FaultName, injectFault } from '../../../../lab/windows/simulator/faults.ts'
import { isProgramReady } from '../../../../lab/windows/simulator/programs.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import {
  createWindowsWorker,
  type WindowsWorker,
  createSharedFixture,
  type SharedWindowsFixture,
} from '../../../../lab/windows/simulator/planned-worker.ts'
import { createHealer } from '../healer.ts'
import { HealCounters } from '../report/heal-reporter.ts'
import { formatAgentMetrics } from '../report/metrics.ts'
import { createWindowsReconciler } from './windows-reconciler.ts'

let fixture: SharedWindowsFixture
/** Worker whose plan is applied once; each test starts from this state. */
let appliedWorker: WindowsWorker
let worker: WindowsWorker
beforeAll(async () => {
  fixture = await createSharedFixture()
  appliedWorker = await createWindowsWorker(fixture)
  const { host, plan } = appliedWorker
  await applyAndListOps(host, plan, { certificates: await appliedWorker.sign(host, plan) })
})
afterAll(async () => appliedWorker[Symbol.asyncDispose]())
let end: AbortController
beforeEach(async () => {
  worker = await createWindowsWorker(fixture, appliedWorker)
  end = new AbortController()
})
afterEach(async () => {
  end.abort()
  await worker[Symbol.asyncDispose]()
})

async function createWindowsHealer(
  actions: HealAction[],
  backoff: StepBackoff = defaultBackoff,
  files = worker.host.files,
) {
  const { host, machine, toLocalPath } = worker
  const state = toLocalPath(host.layout.state)
  const runs = new Runs('win1', new RunEventLog(join(state, 'runs')), () => host.clock.now())
  const claims = await OperatorLockStore.open(join(state, 'claim.json'), () => host.clock.now().getTime())
  const log = (): void => undefined
  const healDeps = {
    host: { ...host, files, clock: { ...host.clock, pause: waitForAbort(end.signal) } },
    work: { activeRestore: async () => undefined },
    runs,
    claims,
    log,
  }
  const healer = createHealer({
    ...healDeps,
    reconciler: createWindowsReconciler({ ...healDeps, backoff }),
    stateStore: await openHealState(host),
    runProbe: async (_probe, { service }) =>
      service === undefined || isProgramReady(machine, service.name)
        ? { state: 'healthy' }
        : { state: 'unhealthy', message: 'no response' },
    report: (action) => void actions.push(action),
    random: () => 0.5,
    signal: end.signal,
  })
  return { healer, claims }
}

/**
 * Keeps probes from running at their intervals, which follow the real clock. In these tests, probes run only
 * when a test requests the health.
 */
function waitForAbort(signal: AbortSignal) {
  return async (): Promise<void> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
}

async function healUntilHealthy(healer: { once(): Promise<unknown> }, maxRounds = 80): Promise<number> {
  for (let count = 1; count <= maxRounds; count++) {
    await healer.once()
    advance(worker.machine, 5000)
    if (isHealthy()) return count
  }
  return Infinity
}

function isHealthy(): boolean {
  const { machine } = worker
  const names = ['containerd', 'apiserver-proxy', 'kubelet', 'flanneld', 'kube-proxy']
  return (
    names.every((name) => isProgramReady(machine, name)) &&
    machine.policies.length === 1 &&
    machine.networks.length === 3 &&
    machine.rules.size === 6
  )
}

test('a healthy host is left alone', async () => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  const before = worker.changes.length
  for (let count = 0; count < 20; count++) {
    await healer.once()
    advance(worker.machine, 5000)
  }
  expect(actions).toEqual([])
  expect(worker.changes.slice(before)).toEqual([])
})

test.each<FaultName>([
  'reboot',
  'hns-stopped',
  'hns-restart',
  'killed-process',
  'killed-runner',
  'stopped-service',
  'removed-service',
  'deleted-rule',
  'wrong-network-type',
  'deleted-network',
  'new-subnet',
])('the fault %s is repaired, reported and recorded', async (name) => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  injectFault(worker.machine, { name, role: 'kube-proxy' })
  expect(await healUntilHealthy(healer)).toBeLessThan(60)
  for (let count = 0; count < 20; count++) {
    await healer.once()
    advance(worker.machine, 5000)
  }
  expect(isHealthy()).toBe(true)
  // A restart by the service manager itself is not a heal action, so there may be no action at all.
  const [last = { action: 'recovered' }] = actions.slice(-1)
  expect(last).toMatchObject({ action: 'recovered' })
  const commands = (await readJournal(worker.host)).flatMap(({ body }) =>
    body.type === 'run-started' ? [body.command] : [],
  )
  expect(commands.some((command) => command.startsWith('heal '))).toBe(actions.length > 0)
  const health = await healer.health(true, end.signal)
  expect(health.components.map(({ component, state }) => `${component} ${state}`)).toEqual(
    worker.plan.components.map((component) => `${component.name} healthy`),
  )
})

test('changed files are repaired without a restart', async () => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  const { toLocalPath, machine } = worker
  await writeFile(toLocalPath(String.raw`C:\hyperkube\settings\kubelet\config.yaml`), 'another')
  await rm(toLocalPath(String.raw`C:\hyperkube\state\kube-proxy\source-vip.env`))
  const processes = [...machine.processes.keys()]
  advance(machine, 60_000)
  await healer.once()
  expect(actions.map(({ component, action }) => `${component} ${action}`)).toEqual([
    'kubelet repair',
    'kube-proxy regenerate',
  ])
  expect([...machine.processes.keys()]).toEqual(processes)
})

test('drift that was found before a failed drift check is not repaired again', async () => {
  const actions: HealAction[] = []
  const { files } = worker.host
  const path = String.raw`C:\hyperkube\settings\kubelet\config.yaml`
  let isUnreadable = false
  const digest: typeof files.digest = async (file) => {
    if (isUnreadable && file === path) throw new Error('EIO: i/o error, read')
    return files.digest(file)
  }
  const { healer } = await createWindowsHealer(actions, defaultBackoff, { ...files, digest })
  await writeFile(worker.toLocalPath(path), 'another')
  for (let count = 0; count < 30; count++) {
    await healer.once()
    isUnreadable = true
    advance(worker.machine, 5000)
  }
  expect(actions.filter(({ action }) => action === 'repair')).toHaveLength(1)
})

test('nothing is healed while healing is paused', async () => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  await healer.pause(60_000, 'eva')
  injectFault(worker.machine, { name: 'stopped-service', role: 'flanneld' })
  advance(worker.machine, 5000)
  await healer.once()
  expect(actions).toEqual([])
  expect(await healer.health(false, end.signal)).toMatchObject({ paused: { by: 'eva' } })
  await healer.pause(0, 'eva')
  await healer.once()
  expect(actions).toMatchObject([{ component: 'flanneld', action: 'restart' }])
})

test('automatic restarts are counted, and starts by the healer are not', async () => {
  const { healer } = await createWindowsHealer([])
  const { machine } = worker
  const countRestarts = async (): Promise<unknown> => {
    advance(machine, 40_000)
    await healer.once()
    const { components } = await healer.health(false, end.signal)
    return components.flatMap(({ component, service }) =>
      service !== undefined && service.restarts > 0 ? [`${component} ${service.restarts}`] : [],
    )
  }
  await countRestarts()
  injectFault(machine, { name: 'killed-process', role: 'kubelet' })
  expect(await countRestarts()).toEqual(['kubelet 1'])
  injectFault(machine, { name: 'stopped-service', role: 'kube-proxy' })
  expect(await healUntilHealthy(healer)).toBeLessThan(60)
  expect(await countRestarts()).toEqual(['kubelet 1'])
  // The next agent continues the restart count.
  const { healer: next } = await createWindowsHealer([])
  await next.once()
  const { components } = await next.health(false, end.signal)
  expect(components.find(({ component }) => component === 'kubelet')?.service?.restarts).toBe(1)
})

/**
 * Lets the kubelet end right after each start, for that many milliseconds. Probes run every ten seconds, as a
 * real agent would run them.
 */
async function breakKubelet(healer: TestHealer, milliseconds: number): Promise<void> {
  const { machine } = worker
  const until = machine.time + milliseconds
  for (let round = 0; machine.time < until; round++) {
    const kubelet = machine.services.get('kubelet')
    if (kubelet?.state === 'Running') {
      for (const { id, service } of machine.processes.values())
        if (service === 'kubelet') machine.processes.delete(id)
      Object.assign(kubelet, { state: 'Stopped', process: 0, exitCode: 0, restartAt: undefined })
    }
    if (round % 2 === 0) await healer.health(true, end.signal)
    await healer.once()
    advance(machine, 5000)
  }
}

type TestHealer = Awaited<ReturnType<typeof createWindowsHealer>>['healer']

const [minute, hour] = [60_000, 3_600_000]
const countStarts = (actions: readonly HealAction[]): number =>
  actions.filter(({ component, because }) => component === 'kubelet' && because === 'start it').length

test('a component that never becomes healthy is exhausted, reported as on Linux, and left alone for an hour', async () => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  await breakKubelet(healer, 25 * minute)
  const gaveUp = actions.filter(({ action }) => action === 'give-up')
  expect(gaveUp).toMatchObject([{ component: 'kubelet', code: 'HEAL_EXHAUSTED', outcome: 'done' }])
  const health = await healer.health(true, end.signal)
  expect(health.components.filter(({ state }) => state === 'exhausted')).toMatchObject([
    { component: 'kubelet', code: 'HEAL_EXHAUSTED' },
  ])
  // These metrics trigger the alerts HyperkubeHealExhausted and HyperkubeBudgetSpent of examples/monitoring.
  const process = { cpuSeconds: 0, residentBytes: 0, startedAt: 0, openFiles: undefined }
  const metrics = formatAgentMetrics({ version: '0.1.0', health, counters: new HealCounters(), process })
  expect(metrics).toContain('hyperkube_agent_component_state{component="kubelet",state="exhausted"} 1')
  const readMetric = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1])
  expect(readMetric('hyperkube_agent_heal_budget_spent')).toBeGreaterThanOrEqual(
    readMetric('hyperkube_agent_heal_budget_max'),
  )
  const before = actions.length
  await breakKubelet(healer, 30 * minute)
  expect(actions.slice(before)).toEqual([])
  await breakKubelet(healer, 31 * minute)
  expect(actions.slice(before).map(({ component }) => component)).toContain('kubelet')
  expect(actions.filter(({ action }) => action === 'give-up')).toHaveLength(1)
  // Once the kubelet can run, the next try heals it.
  advance(worker.machine, hour)
  expect(await healUntilHealthy(healer)).toBeLessThan(60)
  await healer.health(true, end.signal)
  await healer.once()
  const { components, budget } = await healer.health(false, end.signal)
  expect(components.filter(({ state }) => state !== 'healthy')).toEqual([])
  expect(budget.used).toBe(0)
})

test.each<[string, (healer: TestHealer) => Promise<unknown>]>([
  ['an operator who resumes healing', async (healer) => healer.pause(0, 'eva')],
  ['a reboot', async () => injectFault(worker.machine, { name: 'reboot', role: 'kubelet' })],
])('%s lets healing begin again', async (_name, resume) => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  await breakKubelet(healer, 25 * minute)
  const before = countStarts(actions)
  await resume(healer)
  // The reboot also ended the agent, so a new agent starts.
  const { healer: next } = await createWindowsHealer(actions)
  await breakKubelet(next, 2 * minute)
  expect(countStarts(actions)).toBeGreaterThan(before)
  expect((await next.health(false, end.signal)).budget.used).toBeLessThan(5)
})

test('a failed repair is not repeated every round', async () => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions)
  const { toLocalPath, machine, host } = worker
  const user = 'S-1-5-21-1-2-3-1001'
  const directory = String.raw`C:\etc\cni\net.d`
  await host.operations.files.grant({ path: directory, sddl: `O:${user}G:SYD:AI` })
  await writeFile(toLocalPath(`${directory}\\other.conflist`), '')
  for (let count = 0; count < 60; count++) {
    await healer.once()
    advance(machine, 5000)
  }
  const failed = actions.filter(({ action, outcome }) => action === 'repair' && outcome === 'failed')
  expect(failed.length).toBeGreaterThan(0)
  expect(failed.length).toBeLessThanOrEqual(5)
  expect(failed[0]?.details.join(' ')).toContain(user)
})

test('with the legacy script policy, a program is started six times, and the API server proxy is restarted meanwhile', async () => {
  const actions: HealAction[] = []
  const { healer } = await createWindowsHealer(actions, legacyScriptBackoff)
  const { machine } = worker
  const times: number[] = []
  for (let count = 0; count < 60; count++) {
    const flanneld = machine.services.get('flanneld')
    if (flanneld?.state === 'Running') {
      for (const { id, service } of machine.processes.values())
        if (service === 'flanneld') machine.processes.delete(id)
      Object.assign(flanneld, { state: 'Stopped', process: 0, exitCode: 0, restartAt: undefined })
    }
    const before = actions.length
    await healer.once()
    for (const { component, because } of actions.slice(before))
      if (component === 'flanneld' && because === 'start it') times.push(machine.time)
    advance(machine, 5000)
  }
  // The setup already made the first of six starts, so `times` begins with the second start. The pause of two
  // minutes is therefore the fifth interval.
  const intervals = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1000))
  expect(intervals.slice(0, 6)).toEqual([20, expect.any(Number), 20, 20, 120, 20])
  expect(actions.filter(({ component }) => component === 'apiserver-proxy').length).toBeGreaterThan(0)
  const gaveUp = actions.filter(({ action }) => action === 'give-up')
  expect(gaveUp[0]).toMatchObject({ component: 'flanneld', code: 'HEAL_EXHAUSTED', outcome: 'done' })
  // `give-up` is reported once for each series of six starts.
  expect(gaveUp).toHaveLength(Math.floor(times.length / 6))
})
