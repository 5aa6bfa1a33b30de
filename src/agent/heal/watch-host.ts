import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { computeDigest } from '../../diff/resource.ts'
import { appliedPlanFile, readAppliedPlan, statePath } from '../records/state-file.ts'
import type { Clock } from '../host/clock.ts'
import type { Host } from '../host/host.ts'
import type { ServiceManager } from '../host/service-manager.ts'
import {
  type ComponentObservation,
  type DataRisk,
  isHealthySinceStart,
  listLocalProbes,
  type ProbeObservation,
  type UnitObservation,
  updateUnitObservation,
} from './decision/component-observation.ts'
import { elapsed } from './decision/elapsed.ts'
import type { ProbeRecord } from './decision/probe-record.ts'
import type { RunProbe } from './probes/probe-runner.ts'
import type { DriftObservation, HealReconciler, PlanObservation } from './reconciler.ts'
import { watchProbes } from './watch-probes.ts'

export interface WatchHostDeps {
  readonly host: Host
  readonly runProbe: RunProbe
  readonly reconciler: Pick<HealReconciler, 'detectDrift' | 'findDataRisks'>
  readonly random: () => number
  /** Called when the state of a probe has changed. */
  readonly onChange: () => void
  readonly signal: AbortSignal
}

export interface HostObservation extends PlanObservation {
  readonly probes: readonly ProbeRecord[]
  /** Error of the last drift check; undefined if the check succeeded. */
  readonly driftError: unknown
}

/** Collects everything that is known about a host. */
export interface HostWatch {
  /**
   * Returns the current observation, or undefined if no plan was applied to the host yet. `usual` reuses
   * recent results. `news` accepts only units that were queried within the last second. `fresh` also runs all
   * probes now and accepts only recent drift checks.
   */
  observe(mode: 'usual' | 'news' | 'fresh', signal: AbortSignal): Promise<HostObservation | undefined>
  /** Forces a new drift check at the next observation. Called after the host was changed. */
  invalidate(): void
}

export function watchHost(deps: WatchHostDeps): HostWatch {
  const { host, runProbe, reconciler, random, onChange, signal: end } = deps
  const { clock } = host
  const probes = watchProbes({ runProbe, clock, random, onChange })
  const [plans, units, disk] = [
    watchPlan(host),
    watchUnits(host.services, clock),
    watchDrift(reconciler, clock),
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
      const { driftError } = disk.current
      return { ...watched, components: combine(), probes: freshProbes ?? probes.current, driftError }
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

/** Maximum age of a drift check in milliseconds. */
const maxDriftAgeMs = { stable: 60_000, unstable: 10_000 } as const

interface DiskObservation {
  readonly drift: DriftObservation
  readonly dataRisks: ReadonlyMap<string, DataRisk>
  readonly driftError: unknown
}

interface DriftWatch {
  readonly current: DiskObservation
  /**
   * Checks drift and data risks again if the last check is too old for this mode. A failed drift check does not
   * throw, because an unreadable file must not prevent healing. A failed check for data risks throws.
   */
  refresh(plan: NodePlan, mode: keyof typeof maxDriftAgeMs): Promise<void>
  /** Forces a new check at the next refresh. Called after the host was changed. */
  invalidate(): void
}

const emptyObservation: DiskObservation = {
  drift: { repairable: new Map(), unrepairable: new Map(), stopped: new Set() },
  dataRisks: new Map(),
  driftError: undefined,
}

function watchDrift(
  { detectDrift, findDataRisks }: Pick<HealReconciler, 'detectDrift' | 'findDataRisks'>,
  clock: Clock,
): DriftWatch {
  let current = emptyObservation
  let last: { readonly plan: NodePlan; readonly at: number } | undefined
  let isStale = false
  return {
    get current() {
      return current
    },
    async refresh(plan, mode) {
      const time = clock.now().getTime()
      if (last?.plan === plan && !isStale && elapsed(last.at, time) < maxDriftAgeMs[mode]) return
      // After a failure nothing is repaired. Services that an operator stopped stay stopped.
      const { stopped } = last?.plan === plan ? current.drift : emptyObservation.drift
      const unknownDrift = { ...emptyObservation.drift, stopped }
      const [checked, dataRisks] = await Promise.all([
        detectDrift(plan).then(
          (drift) => ({ drift, driftError: undefined }),
          (driftError: unknown) => ({ drift: unknownDrift, driftError }),
        ),
        findDataRisks(plan),
      ])
      current = { ...checked, dataRisks }
      last = { plan, at: time }
      isStale = false
    },
    invalidate() {
      isStale = true
    },
  }
}

export interface WatchedPlan {
  readonly plan: NodePlan
  readonly digest: string
}

/**
 * Returns a function that reads the last applied plan. The plan is large, so it is read again only if its
 * file has changed.
 */
export function watchPlan(host: Host): () => Promise<WatchedPlan | undefined> {
  let known: { readonly stamp: string; readonly watched: WatchedPlan | undefined } | undefined
  return async () => {
    const facts = await host.files.stat(statePath(host, appliedPlanFile))
    const stamp = facts === undefined ? '' : `${facts.inode} ${facts.modified} ${facts.changed} ${facts.size}`
    if (known?.stamp === stamp) return known.watched
    const plan = await readAppliedPlan(host)
    known = { stamp, watched: plan === undefined ? undefined : { plan, digest: computeDigest(plan) } }
    return known.watched
  }
}

/**
 * Maximum age of a unit observation in milliseconds. Units of a stable host are queried less often, because
 * each query starts a process. `news` is for callers that need the current state.
 */
const maxUnitAgeMs = { stable: 30_000, unstable: 10_000, news: 1000 } as const

interface UnitWatch {
  /** Last observation of each unit (key: component name). */
  readonly current: ReadonlyMap<string, UnitObservation>
  /** Queries all units if the last query is too old for this mode. */
  refresh(plan: NodePlan, mode: keyof typeof maxUnitAgeMs): Promise<void>
  /** Records that the component was healthy after the last start of its service. */
  markHealthy(component: string): void
}

function watchUnits(manager: Pick<ServiceManager, 'showAll'>, clock: Clock): UnitWatch {
  let units: ReadonlyMap<string, UnitObservation> = new Map()
  let refreshedAt: number | undefined
  return {
    get current() {
      return units
    },
    async refresh(plan, mode) {
      const now = clock.now().getTime()
      const isNew = plan.components.some(({ name, service }) => service !== undefined && !units.has(name))
      if (!isNew && refreshedAt !== undefined && elapsed(refreshedAt, now) < maxUnitAgeMs[mode]) return
      const services = plan.components.flatMap(({ name, service }) =>
        service === undefined ? [] : [{ component: name, unit: service.name }],
      )
      const states = await manager.showAll(services.map(({ unit }) => unit))
      refreshedAt = now
      units = new Map(
        services.flatMap(({ component, unit }, index) => {
          const state = states[index]
          return state === undefined
            ? []
            : [[component, updateUnitObservation(unit, units.get(component), state, now)]]
        }),
      )
    },
    markHealthy(component) {
      const unit = units.get(component)
      if (unit === undefined || unit.wasHealthy) return
      units = new Map(units).set(component, { ...unit, wasHealthy: true })
    },
  }
}
