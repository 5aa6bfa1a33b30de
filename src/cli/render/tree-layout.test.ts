import { describe, expect, test } from 'vitest'
import { recordingStart, toEvents, type RecordedEvent } from './testing/fixtures.ts'
import { toPlainText } from './line.ts'
import {
  largeRun,
  downloadingRun,
  failedRun,
  interruptedRun,
  interruptingRun,
  preparingRun,
  connectingRun,
  rollingRun,
  succeededRun,
  waitingRun,
} from './testing/recordings.ts'
import { reduceEvents } from './reduce-events.ts'
import { initialRunState } from './run-state.ts'
import { formatEndSummary, formatStepsSummary } from './summary.ts'
import { layoutTree } from './tree-layout.ts'

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
]
const frames: readonly (readonly [string, readonly RecordedEvent[], number])[] = [
  ['reaching', connectingRun, 3],
  ['downloading', downloadingRun, 16],
  ['preparing', preparingRun, 31],
  ['waiting', waitingRun, 49],
  ['failed', failedRun, 49],
  ['interrupting', interruptingRun, 32],
  ['crowd', largeRun, 32],
  ['rolling', rollingRun, 1203],
]

describe.each(sizes)('at $columns x $rows', (size) => {
  test.each(frames)(
    'the tree of the recorded run %s matches the golden file',
    async (name, entries, seconds) => {
      const state = reduceEvents(initialRunState, toEvents(entries))
      const lines = layoutTree(state, recordingStart + seconds * 1000, size).map(toPlainText)
      const file = `./testdata/${name}-${size.columns}x${size.rows}.txt`
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(file)
    },
  )
})

test.each([
  ['succeeded', succeededRun],
  ['failed', failedRun],
  ['interrupted', interruptedRun],
])('the summary of the recorded run %s matches the golden file', async (name, entries) => {
  const state = reduceEvents(initialRunState, toEvents(entries))
  const paint = (_colour: string, text: string): string => text
  const text = `${formatStepsSummary(state, 80, paint)}${formatEndSummary(state, paint)}`
  await expect(text).toMatchFileSnapshot(`./testdata/${name}-summary.txt`)
})

test('the run state is equal for events one by one and all at once', () => {
  for (const entries of [succeededRun, failedRun, interruptedRun, largeRun]) {
    const events = toEvents(entries)
    const single = events.reduce((state, event) => reduceEvents(state, [event]), initialRunState)
    expect(reduceEvents(initialRunState, events)).toEqual(single)
  }
})

test('reduceEvents does not modify the previous state', () => {
  const before = reduceEvents(initialRunState, toEvents(preparingRun))
  const copy = structuredClone(before)
  reduceEvents(before, toEvents(failedRun))
  expect(before).toEqual(copy)
})

test('wait times use the clock of this machine, not of the host', () => {
  const entries: RecordedEvent[] = [
    ...preparingRun,
    [29, wait('2001-01-01T00:00:00.000Z'), 'w1', 'containerd'],
  ]
  const state = reduceEvents(initialRunState, toEvents(entries))
  const lines = layoutTree(state, recordingStart + 31_000, { columns: 120, rows: 24 }).map(toPlainText)
  expect(lines).toContain('    w1   containerd: waiting for containerd.service to run (8 s)')
})

function wait(since: string): RecordedEvent[1] {
  return { type: 'waiting', for: 'containerd.service to run', since }
}
