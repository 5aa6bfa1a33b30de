import { expect, test } from 'vitest'
import { isValid, computeLifetime, isRenewalDue, validityFrom, intersectValidity } from './lifetime.ts'

const validity = { notBefore: new Date(0), notAfter: new Date(90_000) }

test.each([
  [-1, false],
  [0, false],
  [59_999, false],
  [60_000, true],
  [60_001, true],
  [90_000, true],
  [90_001, true],
])('of 90 s, after %i ms renewal is due: %s', (now, due) => {
  expect(isRenewalDue(validity, new Date(now))).toBe(due)
})

test.each([
  [-1, false],
  [0, true],
  [89_999, true],
  [90_000, false],
])('from 0 to 90 s, at %i ms it is valid: %s', (now, valid) => {
  expect(isValid(validity, new Date(now))).toBe(valid)
})

test('begins five minutes ago, in whole seconds', () => {
  expect(validityFrom(new Date('2026-11-15T12:00:00.999Z'), 60_500)).toEqual({
    notBefore: new Date('2026-11-15T11:55:00Z'),
    notAfter: new Date('2026-11-15T12:01:01Z'),
  })
})

test('stays within what it must stay within', () => {
  expect(intersectValidity({ notBefore: new Date(-5), notAfter: new Date(91_000) }, validity)).toEqual(
    validity,
  )
})

test('what it was made with is known afterwards, so that a copy lives no longer', () => {
  const at = new Date('2026-11-15T12:00:00.999Z')
  expect(computeLifetime(validityFrom(at, 1_200_000))).toBe(1_200_000)
})

test('also the shortest that is allowed is not due when it was just made', () => {
  const [made, later] = [new Date(0), new Date(11 * 60_000)]
  const brief = validityFrom(made, 20 * 60_000)
  expect([made, later].map((now) => isRenewalDue(brief, now))).toEqual([false, false])
  expect(isRenewalDue(brief, new Date(12 * 60_000))).toBe(true)
})
