import type { ProbeCheck } from '../../../contract/probe.ts'
import { type ComponentSeen, localProbes, type ProbeSeen } from './component-observation.ts'
import { conditionOf } from './component-condition.ts'
import { elapsed } from './elapsed.ts'
import { endsByItself } from './unit-observation.ts'

/** Remote probes of these kinds ask whether others can be served: they never cause a restart, but hold one back. */
const holding: ReadonlySet<ProbeCheck['kind']> = new Set(['http', 'grpc'])

/** It says nothing at all. Who says that something is missing may be right. */
const silent: ReadonlySet<string | undefined> = new Set(['HEALTH_NO_ANSWER', 'HEALTH_NOT_RUNNING'])

/**
 * Why nothing is done to a component though it is not well: it may not be its fault. What it needs is healed first, and
 * has to be well for a while before anybody else is blamed. One that was well in this life and is silent now hangs, whatever
 * others are able to do; but one that ends, or never got so far, may do so because nobody serves it.
 */
export function heldBy(
  seen: ComponentSeen,
  code: string | undefined,
  needs: readonly ComponentSeen[],
  grace: number,
  now: number,
): string | undefined {
  const { unit } = seen
  const hangs = unit !== undefined && unit.wasWell && silent.has(code) && !endsByItself(unit, grace, now)
  for (const need of needs) {
    const condition = conditionOf(need, now)
    if (condition.state === 'unwell') return `waits for ${need.component}: ${condition.because}`
    const counts = [...localProbes(need), ...(hangs ? [] : need.probes.filter(mayHold))]
    const bad = counts.find(({ state }) => state === 'failing' || state === 'shaky')
    if (bad !== undefined) return `waits for ${need.component}: ${bad.seen ?? `${bad.probe} fails`}`
    const fresh = counts.some(({ state, since }) => state === 'well' && elapsed(since, now) < grace)
    if (fresh) return `gets time: ${need.component}, which it needs, is well since a moment ago`
  }
  return undefined
}

function mayHold({ scope, kind }: ProbeSeen): boolean {
  return scope === 'remote' && holding.has(kind)
}
