import { expect, test } from 'vitest'
import { computeRollbackTime } from './rollback-time.ts'

const noon = Date.UTC(2026, 10, 15, 12)
const minute = 60_000
const trial = { deadline: new Date(noon).toISOString(), rollbackDelayMs: 2 * minute }

test('a host goes back in its slot after the deadline', () => {
  expect(computeRollbackTime(trial, { since: noon - 10 * minute, isReleased: true }, noon)).toBe(
    noon + 2 * minute,
  )
  expect(computeRollbackTime({ ...trial, rollbackDelayMs: 0 }, { since: 0, isReleased: false }, noon)).toBe(
    noon,
  )
})

test('a host that was off or in use at the deadline counts its delay from then', () => {
  expect(computeRollbackTime(trial, { since: noon + 7 * minute, isReleased: true }, noon + 7 * minute)).toBe(
    noon + 9 * minute,
  )
})

test('an operator who has not released the claim has a minute to return', () => {
  const inactivity = { since: noon + 7 * minute, isReleased: false }
  expect(computeRollbackTime(trial, inactivity, noon + 7 * minute)).toBe(noon + 10 * minute)
  expect(computeRollbackTime(trial, { ...inactivity, since: noon - 5 * minute }, noon)).toBe(
    noon + 2 * minute,
  )
})

test('a clock that was set back by a year makes no trial a year longer', () => {
  const now = noon - 365 * 24 * 60 * minute
  expect(computeRollbackTime(trial, { since: now, isReleased: true }, now)).toBe(now + 2 * minute)
  const before = noon - 24 * 60 * minute
  expect(computeRollbackTime(trial, { since: before, isReleased: true }, before)).toBe(noon + 2 * minute)
})
