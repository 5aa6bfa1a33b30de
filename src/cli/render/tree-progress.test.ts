import { expect, test } from 'vitest'
import { beginning, recorded, type Told } from './testing/fixtures.ts'
import { failed, interrupting, preparing, succeeded } from './testing/recordings.ts'
import { treeProgress } from './tree-progress.ts'

/** A tree on a terminal that writes down what it is told. */
function onTerminal() {
  const written: string[] = []
  const ticking = new Set<() => void>()
  const progress = treeProgress({
    output: { write: (text) => written.push(text) },
    screen: { size: () => ({ columns: 80, rows: 24 }) },
    paint: (_colour, text) => text,
    every(_milliseconds, act) {
      ticking.add(act)
      return () => void ticking.delete(act)
    },
    now: () => new Date(beginning + 100_000),
  })
  return {
    progress,
    hear: (told: readonly Told[]) => recorded(told).forEach((event) => progress.heard(event)),
    tick: () => ticking.forEach((act) => act()),
    isTicking: () => ticking.size > 0,
    written,
    all: () => written.join(''),
  }
}

// oxlint-disable-next-line no-control-regex -- what terminals are told begins with one
const lastClearing = /^.*\u001B\[J/s

test('nothing is drawn for single events, however many there are', () => {
  const { hear, tick, written } = onTerminal()
  hear(preparing)
  const before = written.length
  hear(preparing.filter(([, { type }]) => type === 'op-ended' || type === 'progress'))
  expect(written.length).toBe(before)
  tick()
  expect(written.length).toBe(before + 1)
})

test('at the end each step stays with its time, nothing moves, and what was drawn is gone', () => {
  const { hear, tick, isTicking, all } = onTerminal()
  hear(succeeded.slice(0, -4))
  tick()
  expect(isTicking()).toBe(true)
  hear(succeeded.slice(-4))
  expect(isTicking()).toBe(false)
  const left = all().replace(lastClearing, '')
  expect(left).toContain('✓ 5. kubelet and network on cp1, w1 and w2')
  expect(left.trimEnd().split('\n').at(-1)).toMatch(/^5 steps in .*, 8 changes on 3 hosts$/)
})

test('a failure is told once, below the steps', () => {
  const { hear, isTicking, all } = onTerminal()
  hear(failed)
  expect(isTicking()).toBe(false)
  expect(
    all()
      .replace(lastClearing, '')
      .match(/SERVICE_FAILED/g),
  ).toHaveLength(1)
})

test('what is said meanwhile stands above what moves', () => {
  const { hear, tick, progress, all } = onTerminal()
  hear(preparing)
  tick()
  progress.say('a word\n')
  expect(all().replace(lastClearing, '')).toBe('a word\n')
  tick()
  expect(all().replace(/^.*a word\n/s, '')).toContain('preparation on cp1, w1 and w2')
})

test('whenever it is cut off, the cursor is there and lines wrap', () => {
  const { hear, tick, written } = onTerminal()
  for (const [index] of interrupting.entries()) {
    hear(interrupting.slice(index, index + 1))
    tick()
  }
  for (const text of written) {
    expect(text.lastIndexOf('\u001B[?25h')).toBeGreaterThanOrEqual(text.lastIndexOf('\u001B[?25l'))
    expect(text.lastIndexOf('\u001B[?7h')).toBeGreaterThanOrEqual(text.lastIndexOf('\u001B[?7l'))
    expect(text.endsWith('\n') || text.endsWith('\u001B[?25h') || text.endsWith('\u001B[J')).toBe(true)
  }
})
