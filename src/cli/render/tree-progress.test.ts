import { expect, test } from 'vitest'
import { recordingStart, toEvents, type RecordedEvent } from './testing/fixtures.ts'
import { failedRun, interruptingRun, preparingRun, succeededRun } from './testing/recordings.ts'
import { createTreeProgress } from './tree-progress.ts'

/** Creates a progress tree on a fake terminal that records the output. */
function createTestTree() {
  const written: string[] = []
  const ticking = new Set<() => void>()
  const progress = createTreeProgress({
    output: { write: (text) => written.push(text) },
    screen: { size: () => ({ columns: 80, rows: 24 }) },
    paint: (_colour, text) => text,
    repeat(_milliseconds, callback) {
      ticking.add(callback)
      return () => void ticking.delete(callback)
    },
    now: () => new Date(recordingStart + 100_000),
  })
  return {
    progress,
    feed: (entries: readonly RecordedEvent[]) =>
      toEvents(entries).forEach((event) => progress.onEvent(event)),
    tick: () => ticking.forEach((callback) => callback()),
    isTicking: () => ticking.size > 0,
    written,
    all: () => written.join(''),
  }
}

// oxlint-disable-next-line no-control-regex -- terminal control sequences begin with a control character
const lastClearing = /^.*\u001B\[J/s

test('the tree is drawn on ticks, not on single events', () => {
  const { feed, tick, written } = createTestTree()
  feed(preparingRun)
  const before = written.length
  feed(preparingRun.filter(([, { type }]) => type === 'op-ended' || type === 'progress'))
  expect(written.length).toBe(before)
  tick()
  expect(written.length).toBe(before + 1)
})

test('at the end of a run the tree is replaced by a summary, and the ticks stop', () => {
  const { feed, tick, isTicking, all } = createTestTree()
  feed(succeededRun.slice(0, -4))
  tick()
  expect(isTicking()).toBe(true)
  feed(succeededRun.slice(-4))
  expect(isTicking()).toBe(false)
  const remaining = all().replace(lastClearing, '')
  expect(remaining).toContain('✓ 5. kubelet and network on cp1, w1 and w2')
  expect(remaining.trimEnd().split('\n').at(-1)).toMatch(/^5 steps in .*, 8 changes on 3 hosts$/)
})

test('a failure is printed once, below the steps', () => {
  const { feed, isTicking, all } = createTestTree()
  feed(failedRun)
  expect(isTicking()).toBe(false)
  expect(
    all()
      .replace(lastClearing, '')
      .match(/SERVICE_FAILED/g),
  ).toHaveLength(1)
})

test('printed text appears above the tree', () => {
  const { feed, tick, progress, all } = createTestTree()
  feed(preparingRun)
  tick()
  progress.print('a word\n')
  expect(all().replace(lastClearing, '')).toBe('a word\n')
  tick()
  expect(all().replace(/^.*a word\n/s, '')).toContain('preparation on cp1, w1 and w2')
})

test('after every write the cursor is visible and line wrapping is on', () => {
  const { feed, tick, written } = createTestTree()
  for (const [index] of interruptingRun.entries()) {
    feed(interruptingRun.slice(index, index + 1))
    tick()
  }
  for (const text of written) {
    expect(text.lastIndexOf('\u001B[?25h')).toBeGreaterThanOrEqual(text.lastIndexOf('\u001B[?25l'))
    expect(text.lastIndexOf('\u001B[?7h')).toBeGreaterThanOrEqual(text.lastIndexOf('\u001B[?7l'))
    expect(text.endsWith('\n') || text.endsWith('\u001B[?25h') || text.endsWith('\u001B[J')).toBe(true)
  }
})
