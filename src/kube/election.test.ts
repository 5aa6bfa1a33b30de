import { expect, test } from 'vitest'
import { FakeMonotonicClock } from '../kit/testing/fake-monotonic-clock.ts'
import {
  checkElectionTiming,
  type ElectionResult,
  runElection,
  defaultElectionTiming as timing,
} from './election.ts'
import type { LeaseHold } from './lease-lock.ts'
import type { LeaderTerm } from './leader-term.ts'
import { simulateElection, type SimulatedContender } from './testing/election-simulator.ts'

const reliable: SimulatedContender = {
  name: 'a',
  from: 0,
  to: Infinity,
  rate: 1,
  frozen: [],
  cut: [],
  delays: [5],
  end: 'killed',
}

test('a stopped leader releases the lease, so the next leader does not wait for its expiry', async () => {
  const contenders = [
    { ...reliable, to: 30_000, end: 'stopped' as const },
    { ...reliable, name: 'b', from: 1000 },
  ]
  const { actions, endings } = await simulateElection(contenders, timing, { length: 40_000 })
  expect(endings.get('a')).toMatchObject({ ending: 'stopped' })
  const first = actions.find(({ fence }) => fence.holder === 'b')
  expect(first?.fence.transitions).toBe(1)
  expect(first?.at).toBeGreaterThan(30_000)
  expect(first?.at).toBeLessThan(34_000)
})

test('a leader without connection stops before the next leader starts', async () => {
  const cut = [{ from: 20_000, to: 60_000, way: 'there' as const }]
  const contenders = [
    { ...reliable, cut },
    { ...reliable, name: 'b', from: 1000 },
  ]
  const { actions, endings } = await simulateElection(contenders, timing, { length: 60_000 })
  expect(endings.get('a')).toMatchObject({ ending: 'lost' })
  const last = actions.findLast(({ fence }) => fence.holder === 'a')?.at ?? 0
  const first = actions.find(({ fence }) => fence.holder === 'b')?.at ?? Infinity
  expect(last).toBeLessThan(30_000)
  expect(first - last).toBeGreaterThan(4000)
  expect(first).toBeLessThan(40_000)
})

test('a leader that was frozen does not act when it continues', async () => {
  const frozen = [{ from: 20_100, to: 50_000 }]
  const { actions, endings } = await simulateElection(
    [
      { ...reliable, frozen },
      { ...reliable, name: 'b', from: 1000 },
    ],
    timing,
    {
      length: 60_000,
    },
  )
  expect(actions.findLast(({ fence }) => fence.holder === 'a')?.at).toBeLessThan(20_100)
  expect(endings.get('a')).toEqual({ at: 50_000, ending: 'lost' })
})

/** A fake lock that returns the given results one after the other. */
function createLock(...results: LeaseHold[]) {
  const done: string[] = []
  return {
    done,
    async tryAcquire(): Promise<LeaseHold> {
      done.push('hold')
      const [first] = results
      if (results.length > 1) results.shift()
      return first ?? { held: false, holder: 'other' }
    },
    raise(number: number): void {
      done.push(`above ${number}`)
    },
    async release(): Promise<boolean> {
      done.push('release')
      return true
    },
  }
}

const mine = { held: true, until: 1e9, fence: { holder: 'me', transitions: 3 } } as const

function leading(lock: ReturnType<typeof createLock>, work: (term: LeaderTerm) => Promise<void>) {
  const time = new FakeMonotonicClock()
  const stop = new AbortController()
  const ending = runElection(lock, { timing, time, random: () => 0 }, work, stop.signal)
  return { time, stop, ending }
}

test('the lease is renewed until the work has ended, and then released', async () => {
  const lock = createLock(mine)
  const { time, stop, ending } = leading(lock, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await new Promise<void>((resolve) => void time.after(5000, resolve))
  })
  await time.advance(3000)
  stop.abort()
  await time.advance(5000)
  expect(await ending).toBe<ElectionResult>('stopped')
  expect(lock.done).toEqual(['hold', 'hold', 'hold', 'hold', 'release'])
})

test('work that does not stop in time is stuck, and the lease is not released', async () => {
  const lock = createLock(mine)
  const { time, stop, ending } = leading(lock, async () => new Promise(() => undefined))
  await time.advance(1000)
  stop.abort()
  await time.advance(timing.grace)
  expect(await ending).toBe<ElectionResult>('stuck')
  expect(lock.done).not.toContain('release')
})

test('failed work releases the lease and reports its error', async () => {
  const lock = createLock(mine)
  const { time, ending } = leading(lock, async () => Promise.reject(new Error('broken')))
  const [outcome] = await Promise.all([ending.catch((error: unknown) => error), time.advance(1000)])
  expect(outcome).toMatchObject({ message: 'broken' })
  expect(lock.done).toContain('release')
})

test.each<[string, LeaseHold]>([
  ['the lease has another holder', { held: false, holder: 'you' }],
  ['the lease had another holder meanwhile', { ...mine, fence: { holder: 'me', transitions: 5 } }],
])('leadership is lost as soon as %s', async (_, later) => {
  let why: unknown
  const { time, ending } = leading(createLock(mine, later), async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    why = signal.reason
  })
  await time.advance(2500)
  expect(await ending).toBe<ElectionResult>('lost')
  expect(why).toMatchObject({ code: 'LEADERSHIP_LOST' })
})

test('a leader whose fence number is refused gets a higher one and continues', async () => {
  const raised = { ...mine, fence: { holder: 'me', transitions: 9 } }
  const lock = createLock(mine, raised)
  const shown: number[] = []
  const { time, stop, ending } = leading(lock, async (term) => {
    shown.push(term.fence().transitions)
    for (const transitions of [2, 8, 8]) term.raise({ holder: 'you', transitions })
    await new Promise<void>((resolve) => void time.after(3000, resolve))
    shown.push(term.fence().transitions)
  })
  await time.advance(3000)
  expect(await ending).toBe<ElectionResult>('stopped')
  expect(shown).toEqual([3, 9])
  expect(lock.done.filter((word) => word.startsWith('above'))).toEqual(['above 8'])
  stop.abort()
})

test('timings that allow two active leaders are refused', () => {
  expect(() => checkElectionTiming(timing)).not.toThrow()
  for (const wrong of [{ duration: 10_000 }, { deadline: 3000 }, { retry: 0 }]) {
    expect(() => checkElectionTiming({ ...timing, ...wrong })).toThrow('is not safe')
  }
})
