import { expect, test } from 'vitest'
import { healResults, mergeResults, median } from './heal-figures.ts'

test('median ignores undefined values', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([10, undefined, 2, 4, 8])).toBe(6)
  expect(median([7])).toBe(7)
  expect(median([undefined])).toBeUndefined()
  expect(median([])).toBeUndefined()
})

test('new results replace only the results of the same rows', () => {
  const result = (id: string, healed?: number) => ({
    row: { id, what: id, expects: 'heals' as const },
    runs: [
      {
        ...{ host: 'w1', detected: undefined, healed, apiFailed: 0, serviceFailed: 0, acknowledged: 9 },
        ...{
          lost: 0,
          actions: [],
          firstFinding: undefined,
          named: 'first' as const,
          leaderRestarts: undefined,
        },
        problems: [],
      },
    ],
  })
  const previous = healResults.parse(JSON.parse(JSON.stringify([result('b', 1), result('c', 2)])))
  const all = mergeResults([{ id: 'a' }, { id: 'b' }, { id: 'c' }], previous, [result('c', 3)])
  expect(all.map(({ row, runs }) => [row.id, runs[0]?.healed])).toEqual([
    ['b', 1],
    ['c', 3],
  ])
})
