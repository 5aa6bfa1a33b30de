import { array, constantFrom, integer, record, type Arbitrary } from 'fast-check'
import type { Candidate } from '../order-upstreams.ts'
import { type Observation, observe, unknownUpstream, type Upstream } from '../upstreams.ts'

/** What tests draw from. */
export const observations: Arbitrary<Observation> = constantFrom<Observation>(
  { kind: 'ready' },
  { kind: 'ready' },
  { kind: 'unclear', reason: 'does not tell us: 403' },
  { kind: 'draining', reason: 'answers 500: shutdown' },
  { kind: 'unready', reason: 'answers 500: etcd' },
  { kind: 'refused', reason: 'ECONNREFUSED' },
  { kind: 'silent', reason: 'no answer in time' },
  { kind: 'untrusted', reason: 'another authority' },
)

/** A history of looks, each with the time that passed before it. */
export const histories = array(record({ seen: observations, pause: integer({ min: 1, max: 4000 }) }), {
  maxLength: 12,
})

export interface Lived {
  readonly upstream: Upstream
  readonly now: number
}

export function live(history: readonly { readonly seen: Observation; readonly pause: number }[]): Lived {
  return history.reduce<Lived>(
    ({ upstream, now }, { seen, pause }) => ({
      upstream: observe(upstream, seen, now + pause - 1, now + pause),
      now: now + pause,
    }),
    { upstream: unknownUpstream(0), now: 0 },
  )
}

/** Up to six servers with a past of their own; at most one is on this host. */
export const candidateLists: Arbitrary<readonly Candidate[]> = record({
  pasts: array(histories, { maxLength: 6 }),
  local: integer({ min: 0, max: 8 }),
}).map(({ pasts, local }) =>
  pasts.map((history, index) => ({
    server: `10.0.0.${index}:6443`,
    upstream: live(history).upstream,
    local: index === local,
  })),
)
