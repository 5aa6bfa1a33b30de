import { array, assert, asyncProperty, boolean, constant, nat, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type AskStep, decideAsk } from '../../contract/decide-host-request.ts'
import type { Fence } from '../../contract/fence.ts'
import type { HostStatus } from '../../contract/host-resource.ts'
import { Killed, type Life, mortal } from '../apply/testing/crash-injection.ts'
import type { LinuxHost } from '../host/host.ts'
import type { TemporaryHost } from '../host/testing/temporary-host.ts'
import { type AnswerScene, answerNext, resultsFor } from './handle-requests.ts'
import { RequestBook } from './request-store.ts'
import { doneOn, hostWithAgent, testDeeds } from './testing/fake-handlers.ts'

interface Stored {
  readonly version: number
  readonly requests: readonly unknown[]
  readonly status: HostStatus
}

interface Leader {
  fence: Fence
  /** On its way to the API. */
  pending: { readonly version: number; readonly requests: readonly unknown[] } | undefined
}

const wishes = ['w0', 'w1', 'w2', 'w3'] as const
const minute = 60_000

/** Leaders, the API and one host, of which anything can happen to each, in any order. */
class World {
  readonly host: TemporaryHost
  /** Every version that there ever was: who watches late sees an old one. */
  readonly #versions: Stored[] = [{ version: 1, requests: [], status: {} }]
  readonly #leaders: Leader[] = []
  /** What the lease says. */
  #transitions = 0
  #book: RequestBook | undefined
  generation = 1

  constructor(host: TemporaryHost) {
    this.host = host
    this.elect()
  }

  get stored(): Stored {
    return this.#versions.at(-1) ?? { version: 0, requests: [], status: {} }
  }

  /** The former one does not know it yet. */
  elect(): void {
    const number = ++this.#transitions
    const holder = `leader-${this.#leaders.length}`
    this.#leaders.push({ fence: { holder, transitions: number }, pending: undefined })
  }

  ask(who: number, wish: string): AskStep {
    const leader = this.#leader(who)
    const { holder, transitions } = leader.fence
    const { requests, status } = this.stored
    const step = decideAsk(
      { spec: { requests }, status },
      // The deed itself says in whose name it was asked.
      {
        id: wish,
        ask: { type: 'capture-logs', component: `${wish} ${holder} ${transitions}` },
        within: 120 * minute,
      },
      leader.fence,
      this.host.clock.time,
    )
    if (step.kind === 'write') leader.pending = { version: this.stored.version, requests: step.requests }
    // Only who really has the lease gets another number.
    if (step.kind === 'outranked' && leader === this.#leaders.at(-1)) {
      this.#transitions = Math.max(this.#transitions, step.seen.transitions + 1)
      leader.fence = { holder, transitions: this.#transitions }
    }
    return step
  }

  /** What was on its way comes to the API: it is taken only in the very object that was looked at. */
  land(who: number): void {
    const leader = this.#leader(who)
    const { pending } = leader
    leader.pending = undefined
    if (pending?.version === this.stored.version) this.#store({ requests: pending.requests })
  }

  /** etcd is as it was: the object, and the lease. */
  restore(back: number): void {
    const old = this.#versions.at(-1 - (back % this.#versions.length)) ?? this.stored
    this.#store({ requests: old.requests, status: old.status })
    this.#transitions = Math.max(0, this.#transitions - 2)
    this.elect()
  }

  async look(late: number, life?: Life): Promise<boolean> {
    const through = life === undefined ? this.host : mortal(this.host, life)
    const seen = this.#versions.at(-1 - (late % this.#versions.length)) ?? this.stored
    try {
      // An agent that may die begins with what is on the disk.
      if (life !== undefined || this.#book === undefined) this.#book = await RequestBook.open(through)
      return await answerNext(this.#scene(through, this.#book), seen.requests)
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      this.#book = undefined
      return true
    } finally {
      if (life !== undefined) this.#book = undefined
    }
  }

  async tell(): Promise<void> {
    this.#book ??= await RequestBook.open(this.host)
    const results = resultsFor(this.#scene(this.host, this.#book), this.stored.requests)
    const { highest } = this.#book.memory
    const status = { results, generation: this.generation, ...(highest === undefined ? {} : { highest }) }
    this.#store({ status })
  }

  restart(): void {
    this.#book = undefined
  }

  #store(change: Partial<Stored>): void {
    this.#versions.push({ ...this.stored, ...change, version: this.#versions.length + 1 })
  }

  #leader(who: number): Leader {
    const leader = this.#leaders[this.#leaders.length - 1 - (who % this.#leaders.length)]
    if (leader === undefined) throw new Error('nobody leads')
    return leader
  }

  #scene(host: LinuxHost, book: RequestBook): AnswerScene {
    return {
      ...{ book, deeds: testDeeds(host), clock: host.clock, generation: () => this.generation },
      ...{ taken: async () => false, say: () => undefined, signal: new AbortController().signal },
    }
  }
}

const event = oneof(
  {
    weight: 4,
    arbitrary: record({ what: constant('ask' as const), who: nat(2), wish: nat(3), lands: boolean() }),
  },
  { weight: 2, arbitrary: record({ what: constant('land' as const), who: nat(2) }) },
  { weight: 3, arbitrary: record({ what: constant('elect' as const) }) },
  { weight: 4, arbitrary: record({ what: constant('look' as const), late: nat(6) }) },
  { weight: 3, arbitrary: record({ what: constant('kill' as const), late: nat(2), ends: nat(12) }) },
  { weight: 1, arbitrary: record({ what: constant('restart' as const) }) },
  { weight: 3, arbitrary: record({ what: constant('tell' as const) }) },
  { weight: 1, arbitrary: record({ what: constant('restore' as const), back: nat(8) }) },
  { weight: 1, arbitrary: record({ what: constant('operator' as const) }) },
  { weight: 1, arbitrary: record({ what: constant('wait' as const), minutes: nat(50) }) },
)
type Event = typeof event extends { generate: (...args: never[]) => { readonly value: infer T } } ? T : never

async function happens(world: World, one: Event): Promise<void> {
  switch (one.what) {
    case 'ask':
      world.ask(one.who, wishes[one.wish] ?? 'w0')
      if (one.lands) world.land(one.who)
      return
    case 'land':
      return world.land(one.who)
    case 'elect':
      return world.elect()
    case 'look':
      return void (await world.look(one.late))
    case 'kill':
      return void (await world.look(one.late, { calls: 0, ends: one.ends }))
    case 'restart':
      return world.restart()
    case 'tell':
      return world.tell()
    case 'restore':
      return world.restore(one.back)
    case 'operator':
      return void world.generation++
    case 'wait':
      world.host.clock.time += one.minutes * minute
  }
}

const deed = z.object({ component: z.string() })

interface Done {
  readonly id: string
  readonly holder: string
  readonly number: number
}

async function deedsOf(host: LinuxHost): Promise<Done[]> {
  return (await doneOn(host)).map((one) => {
    const [id = '', holder = '', number = ''] = deed.parse(one).component.split(' ')
    return { id, holder, number: Number(number) }
  })
}

/** What was done twice, or for a former leader. */
function disorder(done: readonly Done[]): string[] {
  return done.flatMap((one, at) => {
    const before = done[at - 1]
    const isTwice = done.findIndex(({ id }) => id === one.id) !== at
    const isFormer =
      before !== undefined &&
      (one.number < before.number || (one.number === before.number && one.holder !== before.holder))
    return [
      ...(isTwice ? [`${one.id} was done twice`] : []),
      ...(isFormer ? [`${one.id} was done for ${one.holder} after ${before.holder}`] : []),
    ]
  })
}

/** How what is said of a wish does not fit what was done. Nothing fails here, and what is refused for long is late. */
function misfit(step: AskStep, wish: string, done: readonly Done[]): string[] {
  if (step.kind !== 'answered') return [`${wish} has no answer: ${step.kind}`]
  const isDone = done.some(({ id }) => id === wish)
  const said = step.result.outcome === 'refused' ? step.result.reason : step.result.outcome
  const fits: Readonly<Record<string, boolean>> = { done: isDone, interrupted: true, late: !isDone }
  return fits[said] === true ? [] : [`${wish} is said to be ${said}`]
}

test(
  'with leaders, watches, the API and the agent as they please: nothing twice, nothing for a former leader, all answered',
  { timeout: 240_000 },
  async () => {
    await assert(
      asyncProperty(array(event, { maxLength: 30, size: 'max' }), async (course) => {
        await using host = await hostWithAgent()
        const world = new World(host)
        await world.tell()
        for (const one of course) await happens(world, one)

        // In the end somebody leads, and nothing goes wrong any more.
        for (let round = 0; round < 4; round++) {
          for (const wish of wishes) {
            world.ask(0, wish)
            world.land(0)
            while (await world.look(0));
            await world.tell()
          }
        }
        const done = await deedsOf(host)
        expect([
          ...disorder(done),
          ...wishes.flatMap((wish) => misfit(world.ask(0, wish), wish, done)),
        ]).toEqual([])
      }),
    )
  },
)

test('an agent that is killed at any of its writes does nothing twice, and says of each what became of it', async () => {
  const outcomes = new Set<string>()
  for (let ends = 0; ends < 14; ends++) {
    await using host = await hostWithAgent()
    const world = new World(host)
    await world.tell()
    world.ask(0, 'w0')
    world.land(0)
    await world.look(0, { calls: 0, ends })
    while (await world.look(0));
    await world.tell()
    const result = world.stored.status.results?.at(0)
    const done = await doneOn(host)
    outcomes.add(`${result?.outcome} ${done.length}`)
  }
  expect([...outcomes].toSorted()).toEqual(['done 1', 'interrupted 0', 'interrupted 1'])
})

test('a fence that was shown once counts, also for a watch that goes back and an agent that has just begun', async () => {
  await using host = await hostWithAgent()
  const world = new World(host)
  await world.tell()
  world.ask(0, 'w0')
  world.land(0)
  world.elect()
  world.ask(0, 'w1')
  world.land(0)
  await world.look(0)
  world.restart()
  // As the API was before the second one asked.
  await world.look(1)
  expect(await deedsOf(host)).toEqual([{ id: 'w1', holder: 'leader-1', number: 2 }])
})

test('a book that cannot be read is no empty one', async () => {
  await using host = await hostWithAgent()
  const world = new World(host)
  world.ask(0, 'w0')
  world.land(0)
  await world.look(0)
  const path = `${host.layout.state}/requests.json`
  const { uid, gid, mode } = (await host.files.stat(path)) ?? { uid: 0, gid: 0, mode: 0o600 }
  await host.files.write(path, Buffer.from('{"half'), { uid, gid, mode })
  await expect(RequestBook.open(host)).rejects.toMatchObject({ code: 'HOST_REQUESTS_NOT_READ' })
})
