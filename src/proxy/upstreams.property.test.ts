import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { candidateLists } from './testing/arbitraries.ts'
import { orderUpstreams } from './upstreams.ts'

const settle = 5000
const turns = integer({ min: 0, max: 1000 })
const times = integer({ min: 0, max: 100_000 })

test('a new connection goes to a healthy server if there is one', () => {
  assert(
    property(candidateLists, turns, times, (candidates, turn, now) => {
      const healths = new Map(candidates.map(({ server, upstream }) => [server, upstream.health]))
      const [first = ''] = orderUpstreams(candidates, turn, now, settle)
      const possible = [...healths.values()].includes('healthy')
      expect(healths.get(first) === 'healthy').toBe(possible)
    }),
  )
})

test('each server is tried exactly once', () => {
  assert(
    property(candidateLists, turns, times, (candidates, turn, now) => {
      const tried = orderUpstreams(candidates, turn, now, settle)
      expect(tried.toSorted()).toEqual(candidates.map(({ server }) => server).toSorted())
    }),
  )
})

test('healthy servers are tried before unknown ones, and unknown before unhealthy ones', () => {
  const rank = { healthy: 0, unknown: 1, unhealthy: 2 }
  assert(
    property(candidateLists, turns, times, (candidates, turn, now) => {
      const health = new Map(candidates.map(({ server, upstream }) => [server, rank[upstream.health]]))
      const ranks = orderUpstreams(candidates, turn, now, settle).map((server) => health.get(server) ?? -1)
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    }),
  )
})
