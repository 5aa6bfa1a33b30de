import { array, assert, boolean, double, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { histories, replayHistory, observations } from './testing/arbitraries.ts'
import { decideDrain, type DrainInput } from './drain-decision.ts'
import { defaultProxyTiming as timing } from './timing.ts'
import { applyObservation, createUpstream, type Upstream } from './upstreams.ts'

/** Drain input for a server when one other server is healthy. */
function at(upstream: Upstream): DrainInput {
  const other = applyObservation(createUpstream(0), { kind: 'ready' }, 1_000_000, 1_000_000)
  return { upstream, retiredSince: undefined, others: [other] }
}

const activities = record({
  clientSentAt: integer({ min: 0, max: 50_000 }),
  serverSentAt: integer({ min: 0, max: 50_000 }),
  jitter: double({ min: 0, max: 1, noNaN: true }),
})
const later = integer({ min: 0, max: 60_000 })

test('without another healthy server, every connection stays', () => {
  assert(
    property(
      histories,
      array(histories),
      activities,
      later,
      boolean(),
      (history, pasts, activity, wait, retired) => {
        const { upstream, now } = replayHistory(history)
        const others = pasts
          .map((past) => replayHistory(past).upstream)
          .filter(({ health }) => health !== 'healthy')
        const input = { upstream, retiredSince: retired ? now : undefined, others }
        expect(decideDrain(activity, input, now + wait, timing)).toBe('stay')
      },
    ),
  )
})

test('a server that is not unhealthy keeps its connections, whatever its history', () => {
  assert(
    property(histories, activities, later, (history, activity, wait) => {
      const { upstream, now } = replayHistory(history)
      const kept = upstream.health === 'unhealthy' ? createUpstream(now) : upstream
      expect(decideDrain(activity, at(kept), now + wait, timing)).toBe('stay')
    }),
  )
})

test('a server that fails every second probe keeps its connections', () => {
  assert(
    property(array(observations), activities, later, (observed, activity, wait) => {
      const flapping = observed.flatMap((one) => [{ kind: 'ready' } as const, one])
      const { upstream, now } = replayHistory(flapping.map((one) => ({ observation: one, pause: 1000 })))
      expect(decideDrain(activity, at(upstream), now + wait, timing)).toBe('stay')
    }),
  )
})
