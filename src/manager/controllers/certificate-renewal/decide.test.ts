import { expect, test } from 'vitest'
import { decideRenewal } from './decide.ts'

const day = 86_400_000
const now = Date.parse('2026-11-16T08:00:00Z')

/** A certificate that is due for renewal in `renew` days and expires in `end` days. */
function certificate(renew: number, end: number, file = '/etc/x.crt') {
  const at = (days: number): string => new Date(now + days * day).toISOString()
  return { component: 'kubelet', file, renewAfter: at(renew), notAfter: at(end) }
}

test.each([
  ['far from its end', [certificate(200, 300)], 'Current', false],
  ['due since a while', [certificate(-10, 90)], 'Current', false],
  ['due for too long', [certificate(-30, 70)], 'Overdue', true],
  ['at its end', [certificate(-100, 0)], 'Expired', false],
  ['among which one is overdue', [certificate(200, 300), certificate(-30, 70)], 'Overdue', true],
  ['among which one has ended', [certificate(-30, 70), certificate(-100, -1)], 'Expired', false],
  ['of which there are none', [], 'Current', false],
])('certificates %s', (_what, certificates, reason, renew) => {
  expect(decideRenewal(certificates, now)).toMatchObject({ condition: { reason }, renew })
})

test('the message names the files and the day on which they expire', () => {
  const { condition } = decideRenewal([certificate(-30, 70, '/a'), certificate(-30, 80, '/b')], now)
  expect(condition.message).toBe('/a and 1 more should have been renewed, and ends on 2027-01-25')
})

test('the decision does not change before the returned time', () => {
  const one = [certificate(10, 110)]
  const { next } = decideRenewal(one, now)
  expect(next).toBe(now + 35 * day)
  expect(decideRenewal(one, next - 1).renew).toBe(false)
  expect(decideRenewal(one, next).renew).toBe(true)
  expect(decideRenewal(one, next).next).toBe(now + 110 * day)
  expect(decideRenewal([], now).next).toBe(Infinity)
})
