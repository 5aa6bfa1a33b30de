import { expect, test } from 'vitest'
import {
  matchesHeldClaim,
  decideLock,
  type HeldOperatorLock,
  isLockHeld,
  lockTimeoutMs,
} from './operator-lock.ts'

const now = 1_000_000
const held: HeldOperatorLock = { holder: 'ana', generation: 3, lastHeartbeat: now, released: false }

test.each<[string, HeldOperatorLock | undefined, string, number, boolean, string]>([
  ['a free lock is granted', undefined, 'bob', 1, false, 'granted'],
  ['a lock of another holder is refused', held, 'bob', 4, false, 'held'],
  ['a lock of another holder is granted by force', held, 'bob', 4, true, 'granted'],
  ['a forced lock without a new generation is refused', held, 'bob', 3, true, 'held'],
  ['a repeated request of the holder is granted', held, 'ana', 3, false, 'granted'],
  ['a request of the holder with a new generation is granted', held, 'ana', 4, false, 'granted'],
  ['a released lock is granted', { ...held, released: true }, 'bob', 4, false, 'granted'],
  [
    'a lock whose holder timed out is granted',
    { ...held, lastHeartbeat: now - lockTimeoutMs - 1 },
    'bob',
    4,
    false,
    'granted',
  ],
  [
    'a lock whose holder has not timed out yet is refused',
    { ...held, lastHeartbeat: now - lockTimeoutMs },
    'bob',
    4,
    false,
    'held',
  ],
  ['a request with an outdated generation is refused', held, 'bob', 2, true, 'outdated'],
])('%s', (_, before, holder, generation, force, verdict) => {
  const decision = decideLock(before, { holder, generation }, force, now, false)
  expect(decision.outcome === 'granted' ? 'granted' : decision.reason).toBe(verdict)
})

test('a lock does not time out while its host is busy, but can be taken by force', () => {
  const silent = { ...held, lastHeartbeat: 0 }
  const bob = { holder: 'bob', generation: 4 }
  expect(decideLock(silent, bob, false, now, true).outcome).toBe('refused')
  expect(decideLock(silent, bob, true, now, true).outcome).toBe('granted')
})

test('a lock of a dead holder does not outlast its timeout when the clock is set back', () => {
  const yearMs = 365 * 24 * 3_600_000
  const crashed = { ...held, lastHeartbeat: now + yearMs }
  expect(isLockHeld(crashed, now)).toBe(false)
  expect(decideLock(crashed, { holder: 'bob', generation: 4 }, false, now, false).outcome).toBe('granted')
  expect(isLockHeld({ ...held, lastHeartbeat: now + lockTimeoutMs }, now)).toBe(true)
})

test('only the granted claim matches the held lock', () => {
  expect(matchesHeldClaim(held, { holder: 'ana', generation: 3 })).toBe(true)
  expect(matchesHeldClaim(held, { holder: 'ana', generation: 2 })).toBe(false)
  expect(matchesHeldClaim(held, { holder: 'bob', generation: 3 })).toBe(false)
  expect(matchesHeldClaim({ ...held, released: true }, held)).toBe(false)
  expect(matchesHeldClaim(undefined, held)).toBe(false)
})
