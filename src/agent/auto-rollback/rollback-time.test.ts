import { expect, test } from 'vitest'
import { backAt } from './rollback-time.ts'

const noon = Date.UTC(2026, 10, 15, 12)
const minute = 60_000
const trial = { deadline: new Date(noon).toISOString(), slot: 2 * minute }

test('a host goes back in its slot after the deadline', () => {
  expect(backAt(trial, { since: noon - 10 * minute, left: true }, noon)).toBe(noon + 2 * minute)
  expect(backAt({ ...trial, slot: 0 }, { since: 0, left: false }, noon)).toBe(noon)
})

test('one that was off, or at work for somebody, when the time was over counts its slot from then', () => {
  expect(backAt(trial, { since: noon + 7 * minute, left: true }, noon + 7 * minute)).toBe(noon + 9 * minute)
})

test('whoever has not said goodbye may come back within a minute', () => {
  const quiet = { since: noon + 7 * minute, left: false }
  expect(backAt(trial, quiet, noon + 7 * minute)).toBe(noon + 10 * minute)
  expect(backAt(trial, { ...quiet, since: noon - 5 * minute }, noon)).toBe(noon + 2 * minute)
})

test('a clock that was set back by a year makes no trial a year longer', () => {
  const now = noon - 365 * 24 * 60 * minute
  expect(backAt(trial, { since: now, left: true }, now)).toBe(now + 2 * minute)
  const before = noon - 24 * 60 * minute
  expect(backAt(trial, { since: before, left: true }, before)).toBe(noon + 2 * minute)
})
