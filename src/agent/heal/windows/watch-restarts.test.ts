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
  ['a service that keeps running has no restarts', [{}, {}], 0],
  [
    'restarts by the service manager are counted',
    [{}, { process: 2, restarts: 1 }, { process: 3, restarts: 2 }],
    2,
  ],
  ['a start by the agent is not counted', [{}, { process: 2 }], 0],
  ['restarts by the runner are counted', [{ program: 5 }, { program: 6 }, { program: 7 }], 2],
  ['a restart by the runner is counted once the program runs again', [{ program: 5 }, {}, { program: 6 }], 1],
  ['a restart of the runner is counted once', [{ program: 5 }, { process: 2, program: 6, restarts: 1 }], 1],
  [
    'a stop and start of the runner by the agent is not counted',
    [{ program: 5 }, { process: 0 }, { process: 2, program: 6 }],
    0,
  ],
])('%s', (_what, observations, total) => {
  expect(countTotal(observations)).toBe(total)
})

test('the next agent continues the count, and does not count its first observation', () => {
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
