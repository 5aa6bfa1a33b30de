import { expect, test } from 'vitest'
import { day, year } from '../../pki/lifetime.ts'
import { SigningQuota } from './signing-quota.ts'

const node = 'system:node:w1'
const hour = 3_600_000

test('all certificates of a node can be renewed twice a day for a year', () => {
  const quota = new SigningQuota()
  const plannedCount = 6
  for (let round = 0; round < 730; round++) {
    const now = (round * day) / 2
    for (let index = 0; index < plannedCount; index++) {
      const { signedCount, limit } = quota.measure({ node, plannedCount, lifetimeMs: year, now })
      expect(signedCount).toBeLessThan(limit)
      quota.record(node, `${round}-${index}`, now)
    }
  }
})

test('certificates with a short lifetime are renewed more often', () => {
  const quota = new SigningQuota()
  for (let now = 0; now < 5 * hour; now += hour / 3) {
    expect(quota.measure({ node, plannedCount: 1, lifetimeMs: hour, now }).signedCount).toBeLessThan(4)
    quota.record(node, String(now), now)
  }
})

test('a request is counted once, and only for its node', () => {
  const quota = new SigningQuota()
  quota.record(node, 'a', 0)
  quota.record(node, 'a', hour)
  const question = { plannedCount: 1, lifetimeMs: year, now: hour }
  expect(quota.measure({ ...question, node })).toEqual({ signedCount: 1, limit: 4, periodMs: day })
  expect(quota.measure({ ...question, node: 'system:node:w2' }).signedCount).toBe(0)
  expect(quota.measure({ ...question, node, now: day }).signedCount).toBe(0)
})
