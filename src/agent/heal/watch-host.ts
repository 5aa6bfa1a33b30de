import type { ComponentPlan } from '../../contract/component-plan.ts'
import { getServiceManager, type Host } from '../host/host.ts'
import { isHealthySinceStart } from './decision/component-condition.ts'
import {
  type ComponentObservation,
  listLocalProbes,
  type ProbeObservation,
} from './decision/component-observation.ts'
import type { ProbeRecord } from './decision/probe-record.ts'
import type { UnitObservation } from './decision/unit-observation.ts'
import type { HealOperations } from './heal-operations.ts'
import { type DiskObservation, watchDrift } from './watch-drift.ts'
import { type WatchedPlan, watchPlan } from './watch-plan.ts'
import { watchProbes } from './watch-probes.ts'
import { watchUnits } from './watch-units.ts'

export interface WatchHostDeps {
  readonly host: Host
  readonly operations: Pick<HealOperations, 'runProbe' | 'detectDrift' | 'findDataRisks'>
  readonly random: () => number
  /** Called when the state of a probe has changed. */
  readonly onChange: () => void
  readonly signal: AbortSignal
}

export interface HostObservation extends WatchedPlan {
  readonly components: readonly ComponentObservation[]
  readonly probes: readonly ProbeRecord[]
}

/** Collects everything that is known about a host. */
export interface HostWatch {
  /**
   * Returns the current observation, or undefined if no plan was applied to the host yet. `news` queries
   * systemd again, `fresh` all sources.
   */
  observe(mode: 'usual' | 'news' | 'fresh', signal: AbortSignal): Promise<HostObservation | undefined>
  /** Forces a new drift check, because the host was changed. */
  invalidate(): void
}

export function watchHost({ host, operations, random, onChange, signal: end }: WatchHostDeps): HostWatch {
  const { clock } = host
  const probes = watchProbes({ runProbe: operations.runProbe, clock, random, onChange })
  const [plans, units, disk] = [
    watchPlan(host),
    watchUnits(getServiceManager(host), clock),
    watchDrift(operations, clock),
  ]
  let followed: string | undefined

  const follow = async (): Promise<WatchedPlan | undefined> => {
    const watched = await plans()
    if (watched?.digest !== followed) probes.follow(watched?.plan, end)
    followed = watched?.digest
    return watched
  }

  return {
    async observe(mode, signal) {
      const watched = await follow()
      if (watched === undefined) return undefined
      const { plan } = watched
      const freshProbes = mode === 'fresh' ? await probes.runAll(signal) : undefined
      const combine = (): ComponentObservation[] =>
        observeComponents(plan.components, freshProbes ?? probes.current, units.current, disk.current)
      await units.refresh(plan, mode !== 'usual' ? 'news' : isUnstable(combine()) ? 'unstable' : 'stable')
      await disk.refresh(plan, mode === 'fresh' || isUnstable(combine()) ? 'unstable' : 'stable')
      for (const one of combine()) if (isHealthySinceStart(one)) units.markHealthy(one.component)
      return { ...watched, components: combine(), probes: freshProbes ?? probes.current }
    },
    invalidate: () => disk.invalidate(),
  }
}

/** True if a component is failing or not running, so checks must be more frequent. */
function isUnstable(components: readonly ComponentObservation[]): boolean {
  return components.some(
    (one) =>
      listLocalProbes(one).some(({ state }) => state === 'degraded' || state === 'unhealthy') ||
      (one.unit !== undefined && one.unit.state.active !== 'active'),
  )
}

/** Combines probes, units and drift into one observation per component, in the order of the plan. */
function observeComponents(
  components: readonly ComponentPlan[],
  probes: readonly ProbeObservation[],
  units: ReadonlyMap<string, UnitObservation>,
  { drift, dataRisks }: DiskObservation,
): ComponentObservation[] {
  return components.map(({ name, needs, probes: planned }) => {
    const [unit, dataRisk] = [units.get(name), dataRisks.get(name)]
    const local = planned.filter(({ scope }) => scope === 'local')
    return {
      component: name,
      needs,
      probes: probes.filter(({ component }) => component === name),
      slowestProbeMs: Math.max(
        0,
        ...local.map(({ failureThreshold, intervalMs }) => failureThreshold * intervalMs),
      ),
      drifted: (drift.repairable.get(name) ?? []).map((op) => op.name),
      unrepairable: drift.unrepairable.get(name) ?? [],
      stoppedByOperator: drift.stopped.has(name),
      ...(unit === undefined ? {} : { unit }),
      ...(dataRisk === undefined ? {} : { dataRisk }),
    }
  })
}
