import type { ProbeCheck } from '../../../contract/probe.ts'
import { type ComponentObservation, listLocalProbes, type ProbeObservation } from './component-observation.ts'
import { assessComponent } from './component-condition.ts'
import { elapsed } from './elapsed.ts'
import { isCrashLooping } from './unit-observation.ts'

/**
 * Remote probes of these kinds check whether a component can serve others. They never cause a restart, but
 * can block one.
 */
const blockingKinds: ReadonlySet<ProbeCheck['kind']> = new Set(['http', 'grpc'])

/**
 * Codes of a component that does not respond at all. A component that reports a missing dependency may be
 * right.
 */
const unresponsiveCodes: ReadonlySet<string | undefined> = new Set([
  'HEALTH_NO_RESPONSE',
  'HEALTH_NOT_RUNNING',
])

/**
 * Returns why an unhealthy component must not be healed now, because a dependency may be at fault.
 * Dependencies are healed first, and must be healthy for `grace` milliseconds. A component that was healthy
 * since its start and stopped responding hangs: remote probes of its dependencies do not block its restart. A
 * component that exits, or never became healthy, may do so because a dependency does not serve it.
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
