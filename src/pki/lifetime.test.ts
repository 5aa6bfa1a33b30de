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
])('a certificate of 90 s is due for renewal after %i ms: %s', (now, due) => {
  expect(isRenewalDue(validity, new Date(now))).toBe(due)
})

test.each([
  [-1, false],
  [0, true],
  [89_999, true],
  [90_000, false],
])('a certificate of 90 s is valid at %i ms: %s', (now, valid) => {
  expect(isValid(validity, new Date(now))).toBe(valid)
})

test('a validity begins five minutes before now, in whole seconds', () => {
  expect(validityFrom(new Date('2026-11-15T12:00:00.999Z'), 60_500)).toEqual({
    notBefore: new Date('2026-11-15T11:55:00Z'),
    notAfter: new Date('2026-11-15T12:01:01Z'),
  })
})

test('intersectValidity limits a validity to another', () => {
  expect(intersectValidity({ notBefore: new Date(-5), notAfter: new Date(91_000) }, validity)).toEqual(
    validity,
  )
})

test('computeLifetime returns the lifetime that a validity was made with', () => {
  const at = new Date('2026-11-15T12:00:00.999Z')
  expect(computeLifetime(validityFrom(at, 1_200_000))).toBe(1_200_000)
})

test('a certificate with the shortest allowed lifetime is not due for renewal at once', () => {
  const [made, later] = [new Date(0), new Date(11 * 60_000)]
  const brief = validityFrom(made, 20 * 60_000)
  expect([made, later].map((now) => isRenewalDue(brief, now))).toEqual([false, false])
  expect(isRenewalDue(brief, new Date(12 * 60_000))).toBe(true)
})
