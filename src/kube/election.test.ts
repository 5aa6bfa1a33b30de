import { expect, test } from 'vitest'
import { TestTime } from '../kit/testing/fake-monotonic-clock.ts'
import { checkTiming, type Ending, lead, usualElection as timing } from './election.ts'
import type { Holding } from './lease-lock.ts'
import type { Term } from './leader-term.ts'
import { course, type Life } from './testing/election-simulator.ts'

const well: Life = {
  name: 'a',
  from: 0,
  to: Infinity,
  rate: 1,
  frozen: [],
  cut: [],
  delays: [5],
  end: 'killed',
}

test('one who stops gives the lease back, and the next one need not wait for its end', async () => {
  const lives = [
    { ...well, to: 30_000, end: 'stopped' as const },
    { ...well, name: 'b', from: 1000 },
  ]
  const { deeds, endings } = await course(lives, timing, { length: 40_000 })
  expect(endings.get('a')).toMatchObject({ ending: 'stopped' })
  const first = deeds.find(({ fence }) => fence.holder === 'b')
  expect(first?.fence.transitions).toBe(1)
  expect(first?.at).toBeGreaterThan(30_000)
  expect(first?.at).toBeLessThan(34_000)
})

test('one that is cut off stops before others begin', async () => {
  const cut = [{ from: 20_000, to: 60_000, way: 'there' as const }]
  const lives = [
    { ...well, cut },
    { ...well, name: 'b', from: 1000 },
  ]
  const { deeds, endings } = await course(lives, timing, { length: 60_000 })
  expect(endings.get('a')).toMatchObject({ ending: 'lost' })
  const last = deeds.findLast(({ fence }) => fence.holder === 'a')?.at ?? 0
  const first = deeds.find(({ fence }) => fence.holder === 'b')?.at ?? Infinity
  expect(last).toBeLessThan(30_000)
  expect(first - last).toBeGreaterThan(4000)
  expect(first).toBeLessThan(40_000)
})

test('one that was frozen does not act when it wakes up', async () => {
  const frozen = [{ from: 20_100, to: 50_000 }]
  const { deeds, endings } = await course(
    [
      { ...well, frozen },
      { ...well, name: 'b', from: 1000 },
    ],
    timing,
    {
      length: 60_000,
    },
  )
  expect(deeds.findLast(({ fence }) => fence.holder === 'a')?.at).toBeLessThan(20_100)
  expect(endings.get('a')).toEqual({ at: 50_000, ending: 'lost' })
})

/** A lock that answers as it is told. */
function lockOf(...answers: Holding[]) {
  const done: string[] = []
  return {
    done,
    async tryHold(): Promise<Holding> {
      done.push('hold')
      const [first] = answers
      if (answers.length > 1) answers.shift()
      return first ?? { held: false, holder: 'nobody' }
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

function leading(lock: ReturnType<typeof lockOf>, work: (term: Term) => Promise<void>) {
  const time = new TestTime()
  const stop = new AbortController()
  const ending = lead(lock, { timing, time, random: () => 0 }, work, stop.signal)
  return { time, stop, ending }
}

test('the lease is renewed until the work has really ended, and given back after it', async () => {
  const lock = lockOf(mine)
  const { time, stop, ending } = leading(lock, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await new Promise<void>((resolve) => void time.after(5000, resolve))
  })
  await time.goOn(3000)
  stop.abort()
  await time.goOn(5000)
  expect(await ending).toBe<Ending>('stopped')
  expect(lock.done).toEqual(['hold', 'hold', 'hold', 'hold', 'release'])
})

test('who does not end when it has to is stuck, and the lease is not given back', async () => {
  const lock = lockOf(mine)
  const { time, stop, ending } = leading(lock, async () => new Promise(() => undefined))
  await time.goOn(1000)
  stop.abort()
  await time.goOn(timing.grace)
  expect(await ending).toBe<Ending>('stuck')
  expect(lock.done).not.toContain('release')
})

test('work that fails lets others in, and says why', async () => {
  const lock = lockOf(mine)
  const { time, ending } = leading(lock, async () => Promise.reject(new Error('broken')))
  const [outcome] = await Promise.all([ending.catch((error: unknown) => error), time.goOn(1000)])
  expect(outcome).toMatchObject({ message: 'broken' })
  expect(lock.done).toContain('release')
})

test.each<[string, Holding]>([
  ['somebody else has it', { held: false, holder: 'you' }],
  ['it was somebody else’s meanwhile', { ...mine, fence: { holder: 'me', transitions: 5 } }],
])('it is lost as soon as %s', async (_, later) => {
  let why: unknown
  const { time, ending } = leading(lockOf(mine, later), async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    why = signal.reason
  })
  await time.goOn(2500)
  expect(await ending).toBe<Ending>('lost')
  expect(why).toMatchObject({ code: 'LEADERSHIP_LOST' })
})

test('who is refused for its number gets a higher one, and goes on', async () => {
  const raised = { ...mine, fence: { holder: 'me', transitions: 9 } }
  const lock = lockOf(mine, raised)
  const shown: number[] = []
  const { time, stop, ending } = leading(lock, async (term) => {
    shown.push(term.fence().transitions)
    for (const transitions of [2, 8, 8]) term.raise({ holder: 'you', transitions })
    await new Promise<void>((resolve) => void time.after(3000, resolve))
    shown.push(term.fence().transitions)
  })
  await time.goOn(3000)
  expect(await ending).toBe<Ending>('stopped')
  expect(shown).toEqual([3, 9])
  expect(lock.done.filter((word) => word.startsWith('above'))).toEqual(['above 8'])
  stop.abort()
})

test('timings with which two could act are refused', () => {
  expect(() => checkTiming(timing)).not.toThrow()
  for (const wrong of [{ duration: 10_000 }, { deadline: 3000 }, { retry: 0 }]) {
    expect(() => checkTiming({ ...timing, ...wrong })).toThrow('is not safe')
  }
})
