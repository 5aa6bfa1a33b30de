import { expect, test } from 'vitest'
import { matchesHeldClaim, decideLock, type HeldOperatorLock, lockTimeoutMs } from './operator-lock.ts'

const now = 1_000_000
const held: HeldOperatorLock = { holder: 'ana', generation: 3, lastHeartbeat: now, released: false }

test.each<[string, HeldOperatorLock | undefined, string, number, boolean, string]>([
  ['it is free', undefined, 'bob', 1, false, 'granted'],
  ['another one has it', held, 'bob', 4, false, 'held'],
  ['another one has it, and it is taken by force', held, 'bob', 4, true, 'granted'],
  ['force does not help without a new generation', held, 'bob', 3, true, 'held'],
  ['the holder asks again', held, 'ana', 3, false, 'granted'],
  ['the holder comes back after a crash', held, 'ana', 4, false, 'granted'],
  ['it was given back', { ...held, released: true }, 'bob', 4, false, 'granted'],
  ['its holder is gone', { ...held, lastHeartbeat: now - lockTimeoutMs - 1 }, 'bob', 4, false, 'granted'],
  [
    'its holder was silent for a moment',
    { ...held, lastHeartbeat: now - lockTimeoutMs },
    'bob',
    4,
    false,
    'held',
  ],
  ['a holder of long ago wakes up', held, 'bob', 2, true, 'outdated'],
])('when %s', (_, before, holder, generation, force, verdict) => {
  const decision = decideLock(before, { holder, generation }, force, now, false)
  expect(decision.outcome === 'granted' ? 'granted' : decision.reason).toBe(verdict)
})

test('a holder for whom the host is at work is not gone, however silent', () => {
  const silent = { ...held, lastHeartbeat: 0 }
  const bob = { holder: 'bob', generation: 4 }
  expect(decideLock(silent, bob, false, now, true).outcome).toBe('refused')
  expect(decideLock(silent, bob, true, now, true).outcome).toBe('granted')
})

test('only the very claim that was granted is carried', () => {
  expect(matchesHeldClaim(held, { holder: 'ana', generation: 3 })).toBe(true)
  expect(matchesHeldClaim(held, { holder: 'ana', generation: 2 })).toBe(false)
  expect(matchesHeldClaim(held, { holder: 'bob', generation: 3 })).toBe(false)
  expect(matchesHeldClaim({ ...held, released: true }, held)).toBe(false)
  expect(matchesHeldClaim(undefined, held)).toBe(false)
})
