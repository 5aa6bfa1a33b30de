import { describe, expect, test } from 'vitest'
import { observationOf, type Sketch } from './testing/fixtures.ts'
import { quorum, quorumAfterLosing, quorumAfterRemoving, quorumNow } from './quorum.ts'

test('more than half', () => {
  expect([1, 2, 3, 4, 5, 7].map(quorum)).toEqual([1, 2, 2, 3, 3, 4])
})

function verdicts(
  sketches: Record<string, Sketch>,
  host: string,
): [now: boolean, losing: boolean, removing: boolean] {
  const { members, health } = observationOf(sketches)
  return [
    quorumNow(members, health).kept,
    quorumAfterLosing(members, health, host).kept,
    quorumAfterRemoving(members, health, host).kept,
  ]
}

describe('of three', () => {
  test('all well: any may go', () => {
    expect(verdicts({ a: {}, b: {}, c: {} }, 'b')).toEqual([true, true, true])
  })

  test('one away: it may go, the others may not', () => {
    const members: Record<string, Sketch> = { a: {}, b: { health: 'away' }, c: {} }
    expect(verdicts(members, 'b')).toEqual([true, true, true])
    expect(verdicts(members, 'a')).toEqual([true, false, false])
  })

  test('two away: it is too late', () => {
    const members: Record<string, Sketch> = { a: {}, b: { health: 'away' }, c: { health: 'unready' } }
    expect(verdicts(members, 'b')).toEqual([false, false, false])
  })
})

test('of two, both are needed; but one may be taken out', () => {
  expect(verdicts({ a: {}, b: {} }, 'b')).toEqual([true, false, true])
})

test('the last one may not', () => {
  expect(verdicts({ a: {} }, 'a')).toEqual([true, false, false])
})

test('a learner counts for nothing', () => {
  const members: Record<string, Sketch> = { a: {}, b: {}, c: {}, d: { learner: true, health: 'unready' } }
  expect(verdicts(members, 'd')).toEqual([true, true, true])
  const { members: list, health } = observationOf(members)
  expect(quorumAfterLosing(list, health, 'd')).toEqual({ kept: true, voters: 3, well: 3, needed: 2 })
})

test('a member of whom nothing is known is not well', () => {
  const { members } = observationOf({ a: {}, b: {}, c: {} })
  expect(quorumNow(members, new Map())).toEqual({ kept: false, voters: 3, well: 0, needed: 2 })
})
