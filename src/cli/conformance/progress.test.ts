import { expect, test } from 'vitest'
import { after, beginning, type Course } from '../../conformance/progress.ts'
import type { SuiteEvent } from '../../conformance/ginkgo-output.ts'
import { textOf } from '../render/line.ts'
import { courseView, openConformanceProgress } from './progress.ts'

const began = new Date('2026-11-15T12:00:00Z')
const later = (seconds: number): Date => new Date(began.getTime() + seconds * 1000)
const result = { seconds: 4, reason: [] } as const
const events: readonly SuiteEvent[] = [
  { type: 'began', test: 'a' },
  { type: 'ended', result: { ...result, name: 'a', outcome: 'passed' } },
  { type: 'began', test: 'b\u001B[2J' },
  { type: 'ended', result: { ...result, name: 'b\u001B[2J', outcome: 'failed' } },
  { type: 'began', test: 'c' },
]

/** Shows a run to somebody, and answers with what they saw. */
function shown(screen?: { columns: number; rows: number }): { seen: () => string; tick: () => void } {
  let text = ''
  let tick = (): void => undefined
  const progress = openConformanceProgress({
    stderr: { write: (words) => (text += words) },
    screen: screen && { size: () => screen },
    paintProgress: (_, words) => words,
    every: (_, act) => {
      tick = act
      return () => undefined
    },
    now: () => later(100),
  })
  let course: Course = beginning(['a', 'b', 'c'], began)
  for (const event of events) {
    course = after(course, event, later(8))
    progress.heard(event, course)
  }
  return { seen: () => text, tick: () => tick() }
}

test('in a log each test is a line, and what takes long is told', () => {
  const { seen, tick } = shown()
  expect(seen()).toBe('01:40 1/3 passed a (4.0 s)\n01:40 2/3 failed b\\u001b[2J (4.0 s)\n')
  tick()
  expect(seen()).toContain('01:40 runs for 1 min 32 s: c\n')
})

test('on a terminal what passed is counted, and what failed stays', () => {
  const { seen, tick } = shown({ columns: 60, rows: 20 })
  expect(seen()).toBe('failed b\\u001b[2J (4.0 s)\n')
  tick()
  expect(seen()).toContain('2 of 3 tests · 1 passed · 1 failed · 1 min 40 s\n')
})

test('it fits into a narrow terminal', () => {
  const course = events.reduce((now, event) => after(now, event, began), beginning(['a', 'b', 'c'], began))
  expect(courseView(course, later(5), 20).map(textOf)).toEqual(['2 of 3 tests · 1 pa…', '  5.0 s c'])
  expect(courseView(beginning(['a'], began), began, 80).map(textOf)).toEqual([
    '0 of 1 tests · 0 passed · 0 ms',
  ])
})
