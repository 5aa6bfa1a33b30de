import { array, assert, asyncProperty, boolean, constant, nat, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { decideHostRequest, type HostRequestStep } from '../../contract/decide-host-request.ts'
import type { Fence, HostStatus } from '../../contract/host-resource.ts'
import { type CrashPoint, Killed, withCrash } from '../apply/testing/crash-injection.ts'
import type { LinuxHost } from '../host/host.ts'
import type { TemporaryHost } from '../host/testing/temporary-host.ts'
import { handleNextRequest, type HostRequestDeps, listRequestResults } from './handle-requests.ts'
import { HostRequestStore } from './request-store.ts'
import { createFakeHandlers, createHostWithAgent, listHandled } from './testing/fake-handlers.ts'

interface Stored {
  readonly version: number
  readonly requests: readonly unknown[]
  readonly status: HostStatus
}

interface Leader {
  fence: Fence
  /** A write to the API that has not arrived yet. */
  pending: { readonly version: number; readonly requests: readonly unknown[] } | undefined
}

const requestIds = ['w0', 'w1', 'w2', 'w3'] as const
const minute = 60_000

/** Simulates leaders, the API and one host, with events in any order. */
class Simulation {
  readonly host: TemporaryHost
  /** All versions of the object. Old versions are kept, because a delayed watch returns one of them. */
  readonly #versions: Stored[] = [{ version: 1, requests: [], status: {} }]
  readonly #leaders: Leader[] = []
  /** leaseTransitions of the simulated Lease. */
  #transitions = 0
  #store: HostRequestStore | undefined
  generation = 1

  constructor(host: TemporaryHost) {
    this.host = host
    this.elect()
  }

  get stored(): Stored {
    return this.#versions.at(-1) ?? { version: 0, requests: [], status: {} }
  }

  /** Elects a new leader. The previous leader does not notice it yet. */
  elect(): void {
    const number = ++this.#transitions
    const holder = `leader-${this.#leaders.length}`
    this.#leaders.push({ fence: { holder, transitions: number }, pending: undefined })
  }

  request(who: number, requestId: string): HostRequestStep {
    const leader = this.#leader(who)
    const { holder, transitions } = leader.fence
    const { requests, status } = this.stored
    const step = decideHostRequest(
      { spec: { requests }, status },
      // The action names the leader that requested it, for the final check.
      {
        id: requestId,
        action: { type: 'capture-logs', component: `${requestId} ${holder} ${transitions}` },
        startTimeoutMs: 120 * minute,
      },
      leader.fence,
      this.host.clock.time,
    )
    if (step.kind === 'write') leader.pending = { version: this.stored.version, requests: step.requests }
    // Only the leader that currently holds the lease gets a higher fence.
    if (step.kind === 'outranked' && leader === this.#leaders.at(-1)) {
      this.#transitions = Math.max(this.#transitions, step.highestFence.transitions + 1)
      leader.fence = { holder, transitions: this.#transitions }
    }
    return step
  }

  /**
   * Delivers the pending write of a leader to the API. The API accepts it only if the object has not changed
   * since the leader read it.
   */
  land(who: number): void {
    const leader = this.#leader(who)
    const { pending } = leader
    leader.pending = undefined
    if (pending?.version === this.stored.version) this.#write({ requests: pending.requests })
  }

  /** Restores etcd to an earlier state, including the object and the lease. */
  restore(back: number): void {
    const old = this.#versions.at(-1 - (back % this.#versions.length)) ?? this.stored
    this.#write({ requests: old.requests, status: old.status })
    this.#transitions = Math.max(0, this.#transitions - 2)
    this.elect()
  }

  async handleNext(lag: number, crash?: CrashPoint): Promise<boolean> {
    const host = crash === undefined ? this.host : withCrash(this.host, crash)
    const observed = this.#versions.at(-1 - (lag % this.#versions.length)) ?? this.stored
    try {
      // In a step with a crash point, a new agent acts. It loads its state from disk.
      if (crash !== undefined || this.#store === undefined) this.#store = await HostRequestStore.open(host)
      return await handleNextRequest(this.#deps(host, this.#store), observed.requests)
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      this.#store = undefined
      return true
    } finally {
      if (crash !== undefined) this.#store = undefined
    }
  }

  async reportStatus(): Promise<void> {
    this.#store ??= await HostRequestStore.open(this.host)
    const results = listRequestResults(this.#deps(this.host, this.#store), this.stored.requests)
    const { highestFence } = this.#store.state
    const status = {
      results,
      generation: this.generation,
      ...(highestFence === undefined ? {} : { highestFence }),
    }
    this.#write({ status })
  }

  restart(): void {
    this.#store = undefined
  }

  #write(change: Partial<Stored>): void {
    this.#versions.push({ ...this.stored, ...change, version: this.#versions.length + 1 })
  }

  #leader(who: number): Leader {
    const leader = this.#leaders[this.#leaders.length - 1 - (who % this.#leaders.length)]
    if (leader === undefined) throw new Error('there is no leader')
    return leader
  }

  #deps(host: LinuxHost, store: HostRequestStore): HostRequestDeps {
    return {
      ...{ store, handlers: createFakeHandlers(host), clock: host.clock, generation: () => this.generation },
      ...{ isLocked: async () => false, log: () => undefined, signal: new AbortController().signal },
    }
  }
}

const event = oneof(
  {
    weight: 4,
    arbitrary: record({
      what: constant('request' as const),
      who: nat(2),
      requestId: nat(3),
      lands: boolean(),
    }),
  },
  { weight: 2, arbitrary: record({ what: constant('land' as const), who: nat(2) }) },
  { weight: 3, arbitrary: record({ what: constant('elect' as const) }) },
  { weight: 4, arbitrary: record({ what: constant('handle' as const), late: nat(6) }) },
  { weight: 3, arbitrary: record({ what: constant('kill' as const), late: nat(2), ends: nat(12) }) },
  { weight: 1, arbitrary: record({ what: constant('restart' as const) }) },
  { weight: 3, arbitrary: record({ what: constant('report' as const) }) },
  { weight: 1, arbitrary: record({ what: constant('restore' as const), back: nat(8) }) },
  { weight: 1, arbitrary: record({ what: constant('operator' as const) }) },
  { weight: 1, arbitrary: record({ what: constant('wait' as const), minutes: nat(50) }) },
)
type Event = typeof event extends { generate: (...args: never[]) => { readonly value: infer T } } ? T : never

async function applyEvent(simulation: Simulation, one: Event): Promise<void> {
  switch (one.what) {
    case 'request':
      simulation.request(one.who, requestIds[one.requestId] ?? 'w0')
      if (one.lands) simulation.land(one.who)
      return
    case 'land':
      return simulation.land(one.who)
    case 'elect':
      return simulation.elect()
    case 'handle':
      return void (await simulation.handleNext(one.late))
    case 'kill':
      return void (await simulation.handleNext(one.late, { calls: 0, ends: one.ends }))
    case 'restart':
      return simulation.restart()
    case 'report':
      return simulation.reportStatus()
    case 'restore':
      return simulation.restore(one.back)
    case 'operator':
      return void simulation.generation++
    case 'wait':
      simulation.host.clock.time += one.minutes * minute
  }
}

const handledAction = z.object({ component: z.string() })

interface Handled {
  readonly id: string
  readonly holder: string
  readonly number: number
}

async function readHandled(host: LinuxHost): Promise<Handled[]> {
  return (await listHandled(host)).map((one) => {
    const [id = '', holder = '', number = ''] = handledAction.parse(one).component.split(' ')
    return { id, holder, number: Number(number) }
  })
}

/** Lists actions that were handled twice or that a previous leader requested. */
function findViolations(done: readonly Handled[]): string[] {
  return done.flatMap((one, at) => {
    const before = done[at - 1]
    const isDuplicate = done.findIndex(({ id }) => id === one.id) !== at
    const isStale =
      before !== undefined &&
      (one.number < before.number || (one.number === before.number && one.holder !== before.holder))
    return [
      ...(isDuplicate ? [`${one.id} was done twice`] : []),
      ...(isStale ? [`${one.id} was done for ${one.holder} after ${before.holder}`] : []),
    ]
  })
}

/**
 * Lists contradictions between the reported result of a request and the handled actions. No handler fails in
 * this test. At the end of the test, a request may be refused only because it is late.
 */
function findMismatch(step: HostRequestStep, requestId: string, done: readonly Handled[]): string[] {
  if (step.kind !== 'result') return [`${requestId} has no result: ${step.kind}`]
  const isDone = done.some(({ id }) => id === requestId)
  const outcome = step.result.outcome === 'refused' ? step.result.reason : step.result.outcome
  const matches: Readonly<Record<string, boolean>> = { done: isDone, interrupted: true, late: !isDone }
  return matches[outcome] === true ? [] : [`${requestId} is reported as ${outcome}`]
}

test(
  'under any order of events, no action runs twice or for a previous leader, and every request gets a result',
  { timeout: 240_000 },
  async () => {
    await assert(
      asyncProperty(array(event, { maxLength: 30, size: 'max' }), async (events) => {
        await using host = await createHostWithAgent()
        const simulation = new Simulation(host)
        await simulation.reportStatus()
        for (const one of events) await applyEvent(simulation, one)

        // At the end there is one leader, and no more faults occur.
        for (let round = 0; round < 4; round++) {
          for (const requestId of requestIds) {
            simulation.request(0, requestId)
            simulation.land(0)
            while (await simulation.handleNext(0));
            await simulation.reportStatus()
          }
        }
        const done = await readHandled(host)
        expect([
          ...findViolations(done),
          ...requestIds.flatMap((requestId) =>
            findMismatch(simulation.request(0, requestId), requestId, done),
          ),
        ]).toEqual([])
      }),
    )
  },
)

test('an agent that is killed at any write executes a request at most once, and reports its outcome', async () => {
  const outcomes = new Set<string>()
  for (let ends = 0; ends < 14; ends++) {
    await using host = await createHostWithAgent()
    const simulation = new Simulation(host)
    await simulation.reportStatus()
    simulation.request(0, 'w0')
    simulation.land(0)
    await simulation.handleNext(0, { calls: 0, ends })
    while (await simulation.handleNext(0));
    await simulation.reportStatus()
    const result = simulation.stored.status.results?.at(0)
    const done = await listHandled(host)
    outcomes.add(`${result?.outcome} ${done.length}`)
  }
  expect([...outcomes].toSorted()).toEqual(['done 1', 'interrupted 0', 'interrupted 1'])
})

test('the highest fence counts after a restart of the agent, also for a watch that returns old objects', async () => {
  await using host = await createHostWithAgent()
  const simulation = new Simulation(host)
  await simulation.reportStatus()
  simulation.request(0, 'w0')
  simulation.land(0)
  simulation.elect()
  simulation.request(0, 'w1')
  simulation.land(0)
  await simulation.handleNext(0)
  simulation.restart()
  // The watch returns the object as it was before the second request.
  await simulation.handleNext(1)
  expect(await readHandled(host)).toEqual([{ id: 'w1', holder: 'leader-1', number: 2 }])
})

test('an unreadable request state is an error, not an empty state', async () => {
  await using host = await createHostWithAgent()
  const simulation = new Simulation(host)
  simulation.request(0, 'w0')
  simulation.land(0)
  await simulation.handleNext(0)
  const path = `${host.layout.state}/requests.json`
  const { uid, gid, mode } = (await host.files.stat(path)) ?? { uid: 0, gid: 0, mode: 0o600 }
  await host.files.write(path, Buffer.from('{"half'), { uid, gid, mode })
  await expect(HostRequestStore.open(host)).rejects.toMatchObject({ code: 'HOST_REQUESTS_NOT_READ' })
})
