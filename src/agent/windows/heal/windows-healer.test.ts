import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { HealAction } from '../../../contract/health.ts'
import { applied } from '../../apply/testing/fixtures.ts'
import { readJournal } from '../../apply/journal.ts'
import { openMemory } from '../../heal/heal-state-store.ts'
import { ClaimStore } from '../../operator-lock/operator-lock-store.ts'
import { RunLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import { type Pace, usualPace, seedPace } from '../reconcile/backoff.ts'
import { type FaultName, inflict } from '../../../../lab/windows/simulator/faults.ts'
import { isReady } from '../../../../lab/windows/simulator/programs.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import {
  windowsWorker,
  type WindowsWorker,
  windowsWorld,
  type WindowsWorld,
} from '../../../../lab/windows/simulator/planned-worker.ts'
import { windowsHealer } from './windows-healer.ts'

let world: WindowsWorld
/** Its plan was applied once, for all of them. */
let brought: WindowsWorker
let worker: WindowsWorker
beforeAll(async () => {
  world = await windowsWorld()
  brought = await windowsWorker(world)
  const { host, plan } = brought
  await applied(host, plan, { certificates: await brought.sign(host, plan) })
})
afterAll(async () => brought[Symbol.asyncDispose]())
let end: AbortController
beforeEach(async () => {
  worker = await windowsWorker(world, brought)
  end = new AbortController()
})
afterEach(async () => {
  end.abort()
  await worker[Symbol.asyncDispose]()
})

async function healerOf(told: HealAction[], pace: Pace = usualPace) {
  const { host, machine, place } = worker
  const state = place(host.layout.state)
  const runs = new Runs('win1', new RunLog(join(state, 'runs')), () => host.clock.now())
  const claims = await ClaimStore.open(join(state, 'claim.json'), () => host.clock.now().getTime())
  const healer = windowsHealer({
    host: { ...host, clock: { ...host.clock, pause: waitsFor(end.signal) } },
    work: { restoring: async () => undefined },
    runs,
    claims,
    pace,
    memory: await openMemory(host),
    ask: async (_probe, { service }) =>
      service === undefined || isReady(machine, service.name)
        ? { state: 'well' }
        : { state: 'failed', seen: 'it says nothing' },
    tell: (action) => void told.push(action),
    random: () => 0.5,
    say: () => undefined,
    signal: end.signal,
  })
  return { healer, claims }
}

/** Probes are asked when a test asks for health: their own rhythm would be that of this machine's clock. */
function waitsFor(signal: AbortSignal) {
  return async (): Promise<void> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('it is over')), { once: true })
    })
}

async function until(healer: { once(): Promise<unknown> }, most = 80): Promise<number> {
  for (let count = 1; count <= most; count++) {
    await healer.once()
    advance(worker.machine, 5000)
    if (isWell()) return count
  }
  return Infinity
}

function isWell(): boolean {
  const { machine } = worker
  const names = ['containerd', 'apiserver-proxy', 'kubelet', 'flanneld', 'kube-proxy']
  return (
    names.every((name) => isReady(machine, name)) &&
    machine.policies.length === 1 &&
    machine.networks.length === 3 &&
    machine.rules.size === 6
  )
}

test('a host that is well is left alone', async () => {
  const told: HealAction[] = []
  const { healer } = await healerOf(told)
  const before = worker.changes.length
  for (let count = 0; count < 20; count++) {
    await healer.once()
    advance(worker.machine, 5000)
  }
  expect(told).toEqual([])
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
])('%s is mended, told, and written down', async (name) => {
  const told: HealAction[] = []
  const { healer } = await healerOf(told)
  inflict(worker.machine, { name, role: 'kube-proxy' })
  expect(await until(healer)).toBeLessThan(60)
  for (let count = 0; count < 20; count++) {
    await healer.once()
    advance(worker.machine, 5000)
  }
  expect(isWell()).toBe(true)
  // What the manager of Windows mends by itself is nobody's deed.
  const [last = { action: 'recovered' }] = told.slice(-1)
  expect(last).toMatchObject({ action: 'recovered' })
  const commands = (await readJournal(worker.host)).flatMap(({ what }) =>
    what.type === 'run-started' ? [what.command] : [],
  )
  expect(commands.some((command) => command.startsWith('heal '))).toBe(told.length > 0)
  const health = await healer.health(true, end.signal)
  expect(health.components.map(({ component, state }) => `${component} ${state}`)).toEqual(
    worker.plan.components.map((component) => `${component.name} well`),
  )
})

test('files that somebody has changed come back, and nobody restarts for it', async () => {
  const told: HealAction[] = []
  const { healer } = await healerOf(told)
  const { place, machine } = worker
  await writeFile(place(String.raw`C:\hyperkube\settings\kubelet\config.yaml`), 'another')
  await rm(place(String.raw`C:\hyperkube\state\kube-proxy\source-vip.env`))
  const processes = [...machine.processes.keys()]
  advance(machine, 60_000)
  await healer.once()
  expect(told.map(({ component, action }) => `${component} ${action}`)).toEqual([
    'kubelet put-back',
    'kube-proxy rebuild',
  ])
  expect([...machine.processes.keys()]).toEqual(processes)
})

test('who has paused it, or is at work himself, is not worked against', async () => {
  const told: HealAction[] = []
  const { healer } = await healerOf(told)
  await healer.pause(60_000, 'eva')
  inflict(worker.machine, { name: 'stopped-service', role: 'flanneld' })
  advance(worker.machine, 5000)
  await healer.once()
  expect(told).toEqual([])
  expect(await healer.health(false, end.signal)).toMatchObject({ paused: { by: 'eva' } })
  await healer.pause(0, 'eva')
  await healer.once()
  expect(told).toMatchObject([{ component: 'flanneld', action: 'restart' }])
})

test('what starts again by itself is counted, and what we have started is not', async () => {
  const { healer } = await healerOf([])
  const { machine } = worker
  const look = async (): Promise<unknown> => {
    advance(machine, 40_000)
    await healer.once()
    const { components } = await healer.health(false, end.signal)
    return components.flatMap(({ component, service }) =>
      service !== undefined && service.restarts > 0 ? [`${component} ${service.restarts}`] : [],
    )
  }
  await look()
  inflict(machine, { name: 'killed-process', role: 'kubelet' })
  expect(await look()).toEqual(['kubelet 1'])
  inflict(machine, { name: 'stopped-service', role: 'kube-proxy' })
  expect(await until(healer)).toBeLessThan(60)
  expect(await look()).toEqual(['kubelet 1'])
  // The next agent goes on with it.
  const { healer: next } = await healerOf([])
  await next.once()
  const { components } = await next.health(false, end.signal)
  expect(components.find(({ component }) => component === 'kubelet')?.service?.restarts).toBe(1)
})

test('by the ladder of the seed, a program is tried six times, and the way to the API is opened anew at three left', async () => {
  const told: HealAction[] = []
  const { healer } = await healerOf(told, seedPace)
  const { machine } = worker
  const times: number[] = []
  for (let count = 0; count < 60; count++) {
    const flanneld = machine.services.get('flanneld')
    if (flanneld?.state === 'Running') {
      for (const { id, service } of machine.processes.values())
        if (service === 'flanneld') machine.processes.delete(id)
      Object.assign(flanneld, { state: 'Stopped', process: 0, exitCode: 0, restartAt: undefined })
    }
    const before = told.length
    await healer.once()
    for (const { component, because } of told.slice(before))
      if (component === 'flanneld' && because === 'start it') times.push(machine.time)
    advance(machine, 5000)
  }
  // The first one was when the host was set up.
  const apart = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1000))
  expect(apart.slice(0, 6)).toEqual([20, expect.any(Number), 20, 20, 120, 20])
  expect(told.filter(({ component }) => component === 'apiserver-proxy').length).toBeGreaterThan(0)
  const gaveUp = told.filter(({ action }) => action === 'give-up')
  expect(gaveUp[0]).toMatchObject({ component: 'flanneld', code: 'HEAL_GAVE_UP', outcome: 'done' })
  // Once for each row of six.
  expect(gaveUp).toHaveLength(Math.floor(times.length / 6))
})
