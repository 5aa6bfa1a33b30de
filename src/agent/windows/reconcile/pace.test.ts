import { expect, test } from 'vitest'
import { givenUp, mayTakeAt, reopened, seedPace, taken, usualPace } from './backoff.ts'
import { noMemory } from './worker-observation.ts'
import type { Step } from './step.ts'

const start: Step = { do: 'start', role: 'flanneld', basis: '' }

/** Pauses after each of some tries, in seconds. */
function pausesOf(pace: typeof usualPace, step: Step, tries: number): number[] {
  let [memory, now] = [noMemory, 1_000_000]
  return Array.from({ length: tries }, () => {
    memory = taken(memory, step, now)
    const next = mayTakeAt({ memory, pace }, step)
    const pause = (next - now) / 1000
    now = next
    return pause
  })
}

test('usually a step is taken again later and later, and never given up', () => {
  expect(pausesOf(usualPace, start, 8)).toEqual([5, 10, 20, 40, 80, 120, 120, 120])
})

test.each([
  ['flanneld', 20],
  ['kubelet', 15],
  ['kube-proxy', 10],
] as const)(
  'by the seed %s is tried six times, %i s apart, and again when its script would run again',
  (role, apart) => {
    const pauses = pausesOf(seedPace, { do: 'start', role, basis: '' }, 7)
    expect(pauses).toEqual([apart, apart, apart, apart, apart, 120, apart])
  },
)

test('what the seed knows nothing of goes at the usual pace', () => {
  expect(pausesOf(seedPace, { do: 'start-hns' }, 3)).toEqual([5, 10, 20])
})

test('by the seed the way to the API is opened anew at three tries left, and once', () => {
  let memory = noMemory
  const seen = Array.from({ length: 6 }, (_, index) => {
    const first = reopened({ memory, pace: seedPace }, start)
    if (first !== undefined) memory = taken(memory, first, index * 20_000 + 19_000)
    const again = reopened({ memory, pace: seedPace }, start)
    memory = taken(memory, start, index * 20_000 + 20_000)
    return [first?.do, again?.do]
  })
  expect(seen).toEqual([[], [], [], ['reopen'], [], []].map(([first]) => [first, undefined]))
  expect(reopened({ memory, pace: usualPace }, start)).toBeUndefined()
})

test('by the seed it is said once that six tries were in vain, when the next one would have been due', () => {
  let memory = noMemory
  const said = (now: number, pace = seedPace) => givenUp({ memory, pace, now }, start)
  for (let index = 0; index < 6; index++) {
    expect(said(index * 20_000 + 20_000)).toBeUndefined()
    memory = taken(memory, start, index * 20_000 + 20_000)
  }
  expect(said(139_000)).toBeUndefined()
  expect(said(140_000, usualPace)).toBeUndefined()
  const step = said(140_000)
  expect(step).toEqual({ do: 'give-up', role: 'flanneld' })
  if (step !== undefined) memory = taken(memory, step, 140_000)
  expect(said(200_000)).toBeUndefined()
})
