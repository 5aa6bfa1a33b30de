import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { candidateLists } from './testing/arbitraries.ts'
import { order } from './order-upstreams.ts'

const settle = 5000
const turns = integer({ min: 0, max: 1000 })
const times = integer({ min: 0, max: 100_000 })

test('when a server is well, a new connection goes to one that is', () => {
  assert(
    property(candidateLists, turns, times, (candidates, turn, now) => {
      const healths = new Map(candidates.map(({ server, upstream }) => [server, upstream.health]))
      const [first = ''] = order(candidates, turn, now, settle)
      const possible = [...healths.values()].includes('well')
      expect(healths.get(first) === 'well').toBe(possible)
    }),
  )
})

test('none is left out, and none is tried twice', () => {
  assert(
    property(candidateLists, turns, times, (candidates, turn, now) => {
      const tried = order(candidates, turn, now, settle)
      expect(tried.toSorted()).toEqual(candidates.map(({ server }) => server).toSorted())
    }),
  )
})

test('the well before the unknown before the unwell', () => {
  const rank = { well: 0, unknown: 1, unwell: 2 }
  assert(
    property(candidateLists, turns, times, (candidates, turn, now) => {
      const health = new Map(candidates.map(({ server, upstream }) => [server, rank[upstream.health]]))
      const ranks = order(candidates, turn, now, settle).map((server) => health.get(server) ?? -1)
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    }),
  )
})
