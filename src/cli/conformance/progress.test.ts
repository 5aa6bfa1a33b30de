import { expect, test } from 'vitest'
import { advanceSuiteProgress, startSuiteProgress, type SuiteProgress } from '../../conformance/progress.ts'
import type { SuiteEvent } from '../../conformance/ginkgo-output.ts'
import { toPlainText } from '../render/line.ts'
import { renderSuiteProgress, openConformanceProgress } from './progress.ts'

const startedAt = new Date('2026-11-15T12:00:00Z')
const later = (seconds: number): Date => new Date(startedAt.getTime() + seconds * 1000)
const result = { seconds: 4, reason: [] } as const
const events: readonly SuiteEvent[] = [
  { type: 'began', test: 'a' },
  { type: 'ended', result: { ...result, name: 'a', outcome: 'passed' } },
  { type: 'began', test: 'b\u001B[2J' },
  { type: 'ended', result: { ...result, name: 'b\u001B[2J', outcome: 'failed' } },
  { type: 'began', test: 'c' },
]

/** Shows a run and returns the written text. */
function showRun(screen?: { columns: number; rows: number }): { output: () => string; tick: () => void } {
  let text = ''
  let tick = (): void => undefined
  const progress = openConformanceProgress({
    stderr: { write: (written) => (text += written) },
    screen: screen && { size: () => screen },
    paintProgress: (_, written) => written,
    repeat: (_, callback) => {
      tick = callback
      return () => undefined
    },
    now: () => later(100),
  })
  let suiteProgress: SuiteProgress = startSuiteProgress(['a', 'b', 'c'], startedAt)
  for (const event of events) {
    suiteProgress = advanceSuiteProgress(suiteProgress, event, later(8))
    progress.onEvent(event, suiteProgress)
  }
  return { output: () => text, tick: () => tick() }
}

test('without a terminal each test is one line, and long-running tests are reported', () => {
  const { output, tick } = showRun()
  expect(output()).toBe('01:40 1/3 passed a (4.0 s)\n01:40 2/3 failed b\\u001b[2J (4.0 s)\n')
  tick()
  expect(output()).toContain('01:40 runs for 1 min 32 s: c\n')
})

test('on a terminal passed tests are counted, and failed tests stay as lines', () => {
  const { output, tick } = showRun({ columns: 60, rows: 20 })
  expect(output()).toBe('failed b\\u001b[2J (4.0 s)\n')
  tick()
  expect(output()).toContain('2 of 3 tests · 1 passed · 1 failed · 1 min 40 s\n')
})

test('progress lines are truncated to the width of the terminal', () => {
  const suiteProgress = events.reduce(
    (current, event) => advanceSuiteProgress(current, event, startedAt),
    startSuiteProgress(['a', 'b', 'c'], startedAt),
  )
  expect(renderSuiteProgress(suiteProgress, later(5), 20).map(toPlainText)).toEqual([
    '2 of 3 tests · 1 pa…',
    '  5.0 s c',
  ])
  expect(renderSuiteProgress(startSuiteProgress(['a'], startedAt), startedAt, 80).map(toPlainText)).toEqual([
    '0 of 1 tests · 0 passed · 0 ms',
  ])
})
