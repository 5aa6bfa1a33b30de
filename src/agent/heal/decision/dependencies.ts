import type { ProbeCheck } from '../../../contract/probe.ts'
import {
  assessComponent,
  type ComponentObservation,
  isCrashLooping,
  listLocalProbes,
  type ProbeObservation,
} from './component-observation.ts'
import { elapsed } from './elapsed.ts'

/**
 * Kinds of remote probes that check whether a component can serve others. A failure of such a probe never
 * restarts the component. It can block restarts of components that depend on it.
 */
const blockingKinds: ReadonlySet<ProbeCheck['kind']> = new Set(['http', 'grpc'])

/**
 * Failure codes of a component that does not respond at all. With any other code the component responds, and
 * a dependency may be the cause of the failure.
 */
const unresponsiveCodes: ReadonlySet<string | undefined> = new Set([
  'HEALTH_NO_RESPONSE',
  'HEALTH_NOT_RUNNING',
])

/**
 * Returns why an unhealthy component must not be healed now: a dependency may be the cause. Dependencies are
 * healed first and must be healthy for `grace` milliseconds. Failing remote probes of dependencies do not
 * block a component that was healthy before and no longer responds. A confirmed hang does not wait for
 * `grace` either.
 */
export function findBlocker(
  observed: ComponentObservation,
  { code, isHung }: { readonly code: string | undefined; readonly isHung: boolean },
  needs: readonly ComponentObservation[],
  grace: number,
  now: number,
): string | undefined {
  const { unit } = observed
  const isUnresponsive =
    isHung ||
    (unit !== undefined &&
      unit.wasHealthy &&
      unresponsiveCodes.has(code) &&
      !isCrashLooping(unit, grace, now))
  for (const need of needs) {
    const condition = assessComponent(need, now)
    if (condition.state === 'unhealthy') return `waits for ${need.component}: ${condition.because}`
    const counts = [...listLocalProbes(need), ...(isUnresponsive ? [] : need.probes.filter(canBlock))]
    const failing = counts.find(({ state }) => state === 'unhealthy' || state === 'degraded')
    if (failing !== undefined)
      return `waits for ${need.component}: ${failing.message ?? `${failing.probe} fails`}`
    const isRecent = counts.some(({ state, since }) => state === 'healthy' && elapsed(since, now) < grace)
    if (isRecent && !isHung) return `waits: ${need.component} became healthy only recently`
  }
  return undefined
}

function canBlock({ scope, kind }: ProbeObservation): boolean {
  return scope === 'remote' && blockingKinds.has(kind)
}

/**
 * Sorts dependencies before their dependents and otherwise keeps the order. Unknown dependencies are ignored.
 */
export function sortByDependencies<
  T extends { readonly component: string; readonly needs: readonly string[] },
>(components: readonly T[]): T[] {
  const left = new Map(components.map((one) => [one.component, one]))
  const ordered: T[] = []
  const append = (one: T): void => {
    if (!left.delete(one.component)) return
    for (const need of one.needs) {
      const needed = left.get(need)
      if (needed !== undefined) append(needed)
    }
    ordered.push(one)
  }
  components.forEach(append)
  return ordered
}

/** Returns all direct and indirect dependencies of a component, direct ones first. */
export function listDependencies<T extends { readonly component: string; readonly needs: readonly string[] }>(
  one: T,
  components: ReadonlyMap<string, T>,
): T[] {
  const found = new Map<string, T>()
  const visit = ({ needs }: T): void => {
    const direct = needs.flatMap((need) => components.get(need) ?? [])
    const unvisited = direct.filter(({ component }) => component !== one.component && !found.has(component))
    for (const need of unvisited) found.set(need.component, need)
    unvisited.forEach(visit)
  }
  visit(one)
  return [...found.values()]
}
