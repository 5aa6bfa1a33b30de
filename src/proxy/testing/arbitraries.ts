import { type Arbitrary, array, constantFrom, integer, record } from 'fast-check'
import {
  applyObservation,
  createUpstream,
  type Upstream,
  type UpstreamCandidate,
  type UpstreamObservation,
} from '../upstreams.ts'

export const observations: Arbitrary<UpstreamObservation> = constantFrom<UpstreamObservation>(
  { kind: 'ready' },
  { kind: 'ready' },
  { kind: 'unclear', reason: 'rejects the probe: 403' },
  { kind: 'draining', reason: 'answers 500: shutdown' },
  { kind: 'unready', reason: 'answers 500: etcd' },
  { kind: 'refused', reason: 'ECONNREFUSED' },
  { kind: 'silent', reason: 'no answer in time' },
  { kind: 'untrusted', reason: 'another authority' },
)

/** A history of probe results, each with the time since the previous one. */
export const histories = array(record({ observation: observations, pause: integer({ min: 1, max: 4000 }) }), {
  maxLength: 12,
})

export interface ReplayedUpstream {
  readonly upstream: Upstream
  readonly now: number
}

export function replayHistory(
  history: readonly { readonly observation: UpstreamObservation; readonly pause: number }[],
): ReplayedUpstream {
  return history.reduce<ReplayedUpstream>(
    ({ upstream, now }, { observation, pause }) => ({
      upstream: applyObservation(upstream, observation, now + pause - 1, now + pause),
      now: now + pause,
    }),
    { upstream: createUpstream(0), now: 0 },
  )
}

/** Up to six servers, each with its own history; at most one is local. */
export const candidateLists: Arbitrary<readonly UpstreamCandidate[]> = record({
  pasts: array(histories, { maxLength: 6 }),
  local: integer({ min: 0, max: 8 }),
}).map(({ pasts, local }) =>
  pasts.map((history, index) => ({
    server: `10.0.0.${index}:6443`,
    upstream: replayHistory(history).upstream,
    local: index === local,
  })),
)
