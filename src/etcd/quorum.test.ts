import { describe, expect, test } from 'vitest'
import { buildEtcdObservation, type MemberFixture } from './testing/fixtures.ts'
import { quorumSize } from '../kit/quorum.ts'
import { quorumAfterLosing, quorumAfterRemoving, currentQuorum } from './quorum.ts'

test('more than half', () => {
  expect([1, 2, 3, 4, 5, 7].map(quorumSize)).toEqual([1, 2, 2, 3, 3, 4])
})

function quorumStates(
  sketches: Record<string, MemberFixture>,
  host: string,
): [now: boolean, losing: boolean, removing: boolean] {
  const { members, health } = buildEtcdObservation(sketches)
  return [
    currentQuorum(members, health).hasQuorum,
    quorumAfterLosing(members, health, host).hasQuorum,
    quorumAfterRemoving(members, health, host).hasQuorum,
  ]
}

describe('of three', () => {
  test('all well: any may go', () => {
    expect(quorumStates({ a: {}, b: {}, c: {} }, 'b')).toEqual([true, true, true])
  })

  test('one away: it may go, the others may not', () => {
    const members: Record<string, MemberFixture> = { a: {}, b: { health: 'unreachable' }, c: {} }
    expect(quorumStates(members, 'b')).toEqual([true, true, true])
    expect(quorumStates(members, 'a')).toEqual([true, false, false])
  })

  test('two away: it is too late', () => {
    const members: Record<string, MemberFixture> = {
      a: {},
      b: { health: 'unreachable' },
      c: { health: 'unready' },
    }
    expect(quorumStates(members, 'b')).toEqual([false, false, false])
  })
})

test('of two, both are needed; but one may be taken out', () => {
  expect(quorumStates({ a: {}, b: {} }, 'b')).toEqual([true, false, true])
})

test('the last one may not', () => {
  expect(quorumStates({ a: {} }, 'a')).toEqual([true, false, false])
})

test('a learner counts for nothing', () => {
  const members: Record<string, MemberFixture> = {
    a: {},
    b: {},
    c: {},
    d: { learner: true, health: 'unready' },
  }
  expect(quorumStates(members, 'd')).toEqual([true, true, true])
  const { members: list, health } = buildEtcdObservation(members)
  expect(quorumAfterLosing(list, health, 'd')).toEqual({ hasQuorum: true, voters: 3, healthy: 3, needed: 2 })
})

test('a member of whom nothing is known is not well', () => {
  const { members } = buildEtcdObservation({ a: {}, b: {}, c: {} })
  expect(currentQuorum(members, new Map())).toEqual({ hasQuorum: false, voters: 3, healthy: 0, needed: 2 })
})
