import { describe, expect, test } from 'vitest'
import { beginning, recorded, type Told } from './testing/fixtures.ts'
import { textOf } from './line.ts'
import {
  crowd,
  downloading,
  failed,
  interrupted,
  interrupting,
  preparing,
  reaching,
  rolling,
  succeeded,
  waiting,
} from './testing/recordings.ts'
import { reduce } from './reduce-events.ts'
import { nothingYet } from './run-state.ts'
import { endSummary, stepsSummary } from './summary.ts'
import { view } from './tree-layout.ts'

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
]
const frames: readonly (readonly [string, readonly Told[], number])[] = [
  ['reaching', reaching, 3],
  ['downloading', downloading, 16],
  ['preparing', preparing, 31],
  ['waiting', waiting, 49],
  ['failed', failed, 49],
  ['interrupting', interrupting, 32],
  ['crowd', crowd, 32],
  ['rolling', rolling, 1203],
]

describe.each(sizes)('at $columns x $rows', (size) => {
  test.each(frames)('%s', async (name, told, seconds) => {
    const state = reduce(nothingYet, recorded(told))
    const lines = view(state, beginning + seconds * 1000, size).map(textOf)
    const file = `./testdata/${name}-${size.columns}x${size.rows}.txt`
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(file)
  })
})

test.each([
  ['succeeded', succeeded],
  ['failed', failed],
  ['interrupted', interrupted],
])('what stays when it has %s', async (name, told) => {
  const state = reduce(nothingYet, recorded(told))
  const paint = (_colour: string, text: string): string => text
  const text = `${stepsSummary(state, 80, paint)}${endSummary(state, paint)}`
  await expect(text).toMatchFileSnapshot(`./testdata/${name}-summary.txt`)
})

test('events taken in together are the same as one by one', () => {
  for (const told of [succeeded, failed, interrupted, crowd]) {
    const events = recorded(told)
    const single = events.reduce((state, event) => reduce(state, [event]), nothingYet)
    expect(reduce(nothingYet, events)).toEqual(single)
  }
})

test('what was taken in is not changed by what comes after it', () => {
  const before = reduce(nothingYet, recorded(preparing))
  const copy = structuredClone(before)
  reduce(before, recorded(failed))
  expect(before).toEqual(copy)
})

test('the clock of a host does not count: it may be wrong', () => {
  const told: Told[] = [...preparing, [29, wait('2001-01-01T00:00:00.000Z'), 'w1', 'containerd']]
  const state = reduce(nothingYet, recorded(told))
  const lines = view(state, beginning + 31_000, { columns: 120, rows: 24 }).map(textOf)
  expect(lines).toContain('    w1   containerd: waiting for containerd.service to run (8 s)')
})

function wait(since: string): Told[1] {
  return { type: 'waiting', for: 'containerd.service to run', since }
}
