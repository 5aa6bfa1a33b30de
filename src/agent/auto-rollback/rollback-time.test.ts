import { expect, test } from 'vitest'
import { computeRollbackTime } from './rollback-check.ts'

const noon = Date.UTC(2026, 10, 15, 12)
const minute = 60_000
const change = { deadline: new Date(noon).toISOString(), rollbackDelayMs: 2 * minute }

test('a host rolls back after the deadline and its rollback delay', () => {
  expect(computeRollbackTime(change, { since: noon - 10 * minute, isReleased: true }, noon)).toBe(
    noon + 2 * minute,
  )
  expect(computeRollbackTime({ ...change, rollbackDelayMs: 0 }, { since: 0, isReleased: false }, noon)).toBe(
    noon,
  )
})

test('a host that was active after the deadline counts its delay from the end of the activity', () => {
  expect(computeRollbackTime(change, { since: noon + 7 * minute, isReleased: true }, noon + 7 * minute)).toBe(
    noon + 9 * minute,
  )
})

test('an operator who has not released the lock has a minute to return', () => {
  const inactivity = { since: noon + 7 * minute, isReleased: false }
  expect(computeRollbackTime(change, inactivity, noon + 7 * minute)).toBe(noon + 10 * minute)
  expect(computeRollbackTime(change, { ...inactivity, since: noon - 5 * minute }, noon)).toBe(
    noon + 2 * minute,
  )
})

test('a clock that was set back by a year does not extend a provisional change', () => {
  const now = noon - 365 * 24 * 60 * minute
  expect(computeRollbackTime(change, { since: now, isReleased: true }, now)).toBe(now + 2 * minute)
  const before = noon - 24 * 60 * minute
  expect(computeRollbackTime(change, { since: before, isReleased: true }, before)).toBe(noon + 2 * minute)
})
