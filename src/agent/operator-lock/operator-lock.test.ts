import { expect, test } from 'vitest'
import { carries, decideClaim, type HeldClaim, silence } from './operator-lock.ts'

const now = 1_000_000
const held: HeldClaim = { holder: 'ana', generation: 3, heard: now, released: false }

test.each<[string, HeldClaim | undefined, string, number, boolean, string]>([
  ['nobody has it', undefined, 'bob', 1, false, 'granted'],
  ['another one has it', held, 'bob', 4, false, 'held'],
  ['another one has it, and it is taken by force', held, 'bob', 4, true, 'granted'],
  ['force does not help without a new generation', held, 'bob', 3, true, 'held'],
  ['the holder asks again', held, 'ana', 3, false, 'granted'],
  ['the holder comes back after a crash', held, 'ana', 4, false, 'granted'],
  ['it was given back', { ...held, released: true }, 'bob', 4, false, 'granted'],
  ['its holder is gone', { ...held, heard: now - silence - 1 }, 'bob', 4, false, 'granted'],
  ['its holder was silent for a moment', { ...held, heard: now - silence }, 'bob', 4, false, 'held'],
  ['a holder of long ago wakes up', held, 'bob', 2, true, 'outdated'],
])('when %s', (_, before, holder, generation, force, verdict) => {
  const decision = decideClaim(before, { holder, generation }, force, now, false)
  expect(decision.verdict === 'granted' ? 'granted' : decision.reason).toBe(verdict)
})

test('a holder for whom the host is at work is not gone, however silent', () => {
  const silent = { ...held, heard: 0 }
  const bob = { holder: 'bob', generation: 4 }
  expect(decideClaim(silent, bob, false, now, true).verdict).toBe('refused')
  expect(decideClaim(silent, bob, true, now, true).verdict).toBe('granted')
})

test('only the very claim that was granted is carried', () => {
  expect(carries(held, { holder: 'ana', generation: 3 })).toBe(true)
  expect(carries(held, { holder: 'ana', generation: 2 })).toBe(false)
  expect(carries(held, { holder: 'bob', generation: 3 })).toBe(false)
  expect(carries({ ...held, released: true }, held)).toBe(false)
  expect(carries(undefined, held)).toBe(false)
})
