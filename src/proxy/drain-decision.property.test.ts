import { array, assert, boolean, double, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { histories, live, observations } from './testing/arbitraries.ts'
import { parting, type Situation } from './drain-decision.ts'
import { usualTiming as timing } from './timing.ts'
import { observe, unknownUpstream, type Upstream } from './upstreams.ts'

/** With another server that is as well as can be. */
function at(upstream: Upstream): Situation {
  const other = observe(unknownUpstream(0), { kind: 'ready' }, 0, 1_000_000)
  return { upstream, retiredSince: undefined, others: [other] }
}

const talks = record({
  spokenAt: integer({ min: 0, max: 50_000 }),
  heardAt: integer({ min: 0, max: 50_000 }),
  patience: double({ min: 0, max: 1, noNaN: true }),
})
const later = integer({ min: 0, max: 60_000 })

test('without another server that is well, every connection stays', () => {
  assert(
    property(histories, array(histories), talks, later, boolean(), (history, pasts, talk, wait, retired) => {
      const { upstream, now } = live(history)
      const others = pasts.map((past) => live(past).upstream).filter(({ health }) => health !== 'well')
      const situation = { upstream, retiredSince: retired ? now : undefined, others }
      expect(parting(talk, situation, now + wait, timing)).toBe('stay')
    }),
  )
})

test('a server that is not unwell keeps its connections, however often it was: nothing goes to and fro', () => {
  assert(
    property(histories, talks, later, (history, talk, wait) => {
      const { upstream, now } = live(history)
      const kept = upstream.health === 'unwell' ? unknownUpstream(now) : upstream
      expect(parting(talk, at(kept), now + wait, timing)).toBe('stay')
    }),
  )
})

test('failures that stand alone move nobody, also not from one that answers every other time', () => {
  assert(
    property(array(observations), talks, later, (seen, talk, wait) => {
      const shaken = seen.flatMap((one) => [{ kind: 'ready' } as const, one])
      const { upstream, now } = live(shaken.map((one) => ({ seen: one, pause: 1000 })))
      expect(parting(talk, at(upstream), now + wait, timing)).toBe('stay')
    }),
  )
})
