import type { ProbeCheck } from '../../../contract/probe.ts'
import { type ComponentObservation, listLocalProbes, type ProbeObservation } from './component-observation.ts'
import { assessComponent } from './component-condition.ts'
import { elapsed } from './elapsed.ts'
import { isCrashLooping } from './unit-observation.ts'

/**
 * Kinds of remote probes that check whether a component can serve others. Such a probe never causes a
 * restart, but it can block one.
 */
const blockingKinds: ReadonlySet<ProbeCheck['kind']> = new Set(['http', 'grpc'])

/**
 * Failure codes of a component that does not respond at all. With any other code the component may rightly
 * complain about a dependency.
 */
const unresponsiveCodes: ReadonlySet<string | undefined> = new Set([
  'HEALTH_NO_RESPONSE',
  'HEALTH_NOT_RUNNING',
])

/**
 * Returns why an unhealthy component must not be healed now: a dependency may be the cause. Dependencies are
 * healed first and must be healthy for `grace` milliseconds. A component that was healthy and stopped
 * responding hangs, so failing remote probes of its dependencies do not block its restart.
 */
export function findBlocker(
  observed: ComponentObservation,
  code: string | undefined,
  needs: readonly ComponentObservation[],
  grace: number,
  now: number,
): string | undefined {
  const { unit } = observed
  const hangs =
    unit !== undefined && unit.wasHealthy && unresponsiveCodes.has(code) && !isCrashLooping(unit, grace, now)
  for (const need of needs) {
    const condition = assessComponent(need, now)
    if (condition.state === 'unhealthy') return `waits for ${need.component}: ${condition.because}`
    const counts = [...listLocalProbes(need), ...(hangs ? [] : need.probes.filter(canBlock))]
    const failing = counts.find(({ state }) => state === 'unhealthy' || state === 'degraded')
    if (failing !== undefined)
      return `waits for ${need.component}: ${failing.message ?? `${failing.probe} fails`}`
    const isRecent = counts.some(({ state, since }) => state === 'healthy' && elapsed(since, now) < grace)
    if (isRecent) return `gets time: ${need.component}, which it needs, is well since a moment ago`
  }
  return undefined
}

function canBlock({ scope, kind }: ProbeObservation): boolean {
  return scope === 'remote' && blockingKinds.has(kind)
}
