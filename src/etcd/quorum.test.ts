import { describe, expect, test } from 'vitest'
import { buildEtcdObservation, type MemberFixture } from './testing/fixtures.ts'
import { quorumSize } from '../kit/quorum.ts'
import { quorumAfterLosing, quorumAfterRemoving, currentQuorum } from './quorum.ts'

test('a quorum is more than half of the voters', () => {
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

describe('with three voters', () => {
  test('all healthy: any voter can be lost or removed', () => {
    expect(quorumStates({ a: {}, b: {}, c: {} }, 'b')).toEqual([true, true, true])
  })

  test('one unreachable: only that voter can be lost or removed', () => {
    const members: Record<string, MemberFixture> = { a: {}, b: { health: 'unreachable' }, c: {} }
    expect(quorumStates(members, 'b')).toEqual([true, true, true])
    expect(quorumStates(members, 'a')).toEqual([true, false, false])
  })

  test('two unhealthy: there is no quorum', () => {
    const members: Record<string, MemberFixture> = {
      a: {},
      b: { health: 'unreachable' },
      c: { health: 'unready' },
    }
    expect(quorumStates(members, 'b')).toEqual([false, false, false])
  })
})

test('with two voters neither can be lost, but one can be removed', () => {
  expect(quorumStates({ a: {}, b: {} }, 'b')).toEqual([true, false, true])
})

test('the last voter cannot be lost or removed', () => {
  expect(quorumStates({ a: {} }, 'a')).toEqual([true, false, false])
})

test('a learner does not count for the quorum', () => {
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

test('a member with unknown health does not count as healthy', () => {
  const { members } = buildEtcdObservation({ a: {}, b: {}, c: {} })
  expect(currentQuorum(members, new Map())).toEqual({ hasQuorum: false, voters: 3, healthy: 0, needed: 2 })
})
