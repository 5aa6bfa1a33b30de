import { expect, test } from 'vitest'
import { countRestarts, type ServiceRunObservation, toRestartCounts } from './watch-restarts.ts'

function countTotal(
  observations: readonly Partial<ServiceRunObservation>[],
  known: Readonly<Record<string, number>> = {},
) {
  const observed = observations.map((one) => ({
    name: 'x',
    process: 1,
    program: undefined,
    restarts: 0,
    ...one,
  }))
  return observed.reduce((counts, one) => countRestarts(counts, [one]), toRestartCounts(known)).get('x')
    ?.total
}

test.each<[what: string, observations: Partial<ServiceRunObservation>[], total: number]>([
  ['runs on', [{}, {}], 0],
  ['was started again by its manager', [{}, { process: 2, restarts: 1 }, { process: 3, restarts: 2 }], 2],
  ['was started by us', [{}, { process: 2 }], 0],
  ['was started again by its runner', [{ program: 5 }, { program: 6 }, { program: 7 }], 2],
  ['is about to be, by its runner', [{ program: 5 }, {}, { program: 6 }], 1],
  ['got another runner', [{ program: 5 }, { process: 2, program: 6, restarts: 1 }], 1],
  ['was away with its runner', [{ program: 5 }, { process: 0 }, { process: 2, program: 6 }], 0],
])('what %s counts as such', (_what, observations, total) => {
  expect(countTotal(observations)).toBe(total)
})

test('the next agent goes on counting, and begins with nothing that it has seen', () => {
  expect(
    countTotal(
      [
        { process: 9, program: 4 },
        { process: 9, program: 5 },
      ],
      { x: 3 },
    ),
  ).toBe(4)
  expect(countTotal([{ process: 9 }, { process: 8, restarts: 1 }], { x: 3 })).toBe(4)
})
