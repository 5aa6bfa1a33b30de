import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/printable.ts'
import type { ComponentHealth, HealAction, HostHealth } from '../../../contract/health.ts'
import { type ComponentObservation } from '../../heal/decision/component-observation.ts'
import { assessComponent } from '../../heal/decision/component-condition.ts'
import { defaultHealBudget } from '../../heal/decision/budget.ts'
import { toProbeHealth } from '../../heal/decision/probe-record.ts'
import { elapsed } from '../../heal/decision/elapsed.ts'
import { recordActions } from '../../heal/decision/action-history.ts'
import { type DetectedDrift, detectDrift } from '../../heal/drift/detect-drift.ts'
import { withKnownDigests } from '../../heal/drift/known-digests.ts'
import type { HostHealer } from '../../heal/host-healer.ts'
import { findSuspension, setPause, findActivePause } from '../../heal/suspension.ts'
import { healIntervalMs } from '../../heal/loop.ts'
import type { HealStateStore } from '../../heal/heal-state-store.ts'
import type { RunProbe } from '../../heal/probe-result.ts'
import { type HostObservation, watchHost } from '../../heal/watch-host.ts'
import { type TickResult, runLoop } from '../../loop/run-loop.ts'
import { workerRoles, type WorkerRole } from '../reconcile/worker-spec.ts'
import { type WindowsHealInput, healWindowsOnce, type WindowsHealDeps } from './heal-once.ts'
import { createLogRotation } from './rotate-logs.ts'
import { type RestartWatch, watchRestarts } from './watch-restarts.ts'

export interface WindowsHealerDeps extends WindowsHealDeps {
  readonly runProbe: RunProbe
  readonly stateStore: HealStateStore
  /** Emits an event. It neither waits nor fails. */
  readonly report: (action: HealAction) => void
  readonly random: () => number
  readonly log: (text: string) => void
}

/** Maximum number of recent actions in a health report. */
const maxActions = 50
/** Milliseconds between the start of the agent and the first round. */
const firstDelayMs = 1000

/** Heals a Windows host by reconciling its services and networks in rounds. */
export function windowsHealer(deps: WindowsHealerDeps): HostHealer & { once(): Promise<TickResult> } {
  const { host, stateStore, backoff, report, signal: end } = deps
  const { clock } = host
  const time = (): number => clock.now().getTime()
  const hostWithDigests = withKnownDigests(host)
  let drift: DetectedDrift | undefined
  const watch = watchHost({
    host,
    operations: {
      runProbe: deps.runProbe,
      async detectDrift(plan) {
        drift = await detectDrift(hostWithDigests, plan)
        return drift
      },
      findDataRisks: async () => new Map(),
    },
    random: deps.random,
    onChange: () => undefined,
    signal: end,
  })
  const restarts = watchRestarts(host)
  const rotateLogs = createLogRotation(host)
  // True during the healer's own run, which must not suspend healing.
  let acting = false
  let waitingFor: string | undefined

  /** Logs errors of work that must not prevent healing. */
  const bestEffort = async (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => deps.log(toPrintable(formatError(error))))

  const once = async (): Promise<TickResult> => {
    // While a component is being healed, read the service states now instead of at the usual interval.
    const observed = await watch.observe(
      unfinished(stateStore.current.actions).size > 0 ? 'news' : 'usual',
      end,
    )
    if (observed !== undefined) {
      await bestEffort(async () => restarts.observe(observed.plan, observed.components))
      await bestEffort(async () => rotateLogs(observed.plan))
    }
    const idle = await findSuspension(deps, stateStore.current)
    if (observed === undefined || idle !== undefined) return { nextMs: healIntervalMs, problems: [] }
    acting = true
    try {
      const result = await healWindowsOnce(deps, toHealInput(observed, drift, time()))
      waitingFor = result.waitingFor
      if (result.actions.length > 0) watch.invalidate()
      const reported = [...result.actions, ...listRecovered(result.actions, observed)]
      await stateStore.update((before) => recordActions(before, reported))
      for (const action of reported) report(action)
    } finally {
      acting = false
    }
    return { nextMs: healIntervalMs, problems: [] }
  }

  /** Returns a `recovered` action for each component that was healed and is healthy again. */
  const listRecovered = (actions: readonly HealAction[], { components }: HostObservation): HealAction[] => {
    if (actions.length > 0 || waitingFor !== undefined) return []
    const openComponents = unfinished(stateStore.current.actions)
    return components.flatMap((one): HealAction[] => {
      const { component } = one
      // A component can match its plan and still be down or unhealthy for a while.
      if (!openComponents.has(component) || isDown(one) || assessComponent(one, time()).state === 'unhealthy')
        return []
      const at = clock.now().toISOString()
      const because = 'all of it is as planned, and nothing is waited for'
      return [{ at, component, action: 'recovered', because, outcome: 'done', details: [] }]
    })
  }

  return {
    once,
    async run() {
      await runLoop({
        ...deps,
        tick: once,
        firstMs: firstDelayMs,
        retryMs: healIntervalMs,
        clock,
        signal: end,
      })
    },
    async health(fresh, signal): Promise<HostHealth> {
      const observed = await watch.observe(fresh ? 'fresh' : 'usual', signal)
      const idle = acting ? undefined : await findSuspension(deps, stateStore.current)
      const now = time()
      const paused = findActivePause(stateStore.current, now)
      const { max, windowMs } = defaultHealBudget
      const recent = stateStore.current.actions.filter(
        ({ at, action }) => action === 'restart' && elapsed(at, now) < windowMs,
      )
      return {
        at: new Date(now).toISOString(),
        ...(observed === undefined ? {} : { plan: observed.digest }),
        healPolicy: backoff.name,
        ...(paused === undefined ? {} : { paused }),
        ...(idle === undefined || paused !== undefined ? {} : { suspended: idle.because }),
        budget: { used: recent.length, max, windowMs },
        components: (observed?.components ?? []).map((one) =>
          toComponentHealth(one, stateStore.current.actions, restarts, waitingFor, now),
        ),
        probes: (observed?.probes ?? []).map(toProbeHealth),
        actions: stateStore.current.actions.slice(0, maxActions),
      }
    },
    pause: async (milliseconds, by) => setPause(stateStore, milliseconds, by, time()),
  }
}

/** Returns the components that have heal actions after their last `recovered` action. */
function unfinished(actions: readonly HealAction[]): ReadonlySet<string> {
  const last = new Map(actions.toReversed().map(({ component, action }) => [component, action]))
  return new Set([...last].flatMap(([component, action]) => (action === 'recovered' ? [] : [component])))
}

function isDown({ unit }: Pick<ComponentObservation, 'unit'>): boolean {
  return unit !== undefined && unit.state.active !== 'active'
}

/** Converts an observation into the input of a round. */
function toHealInput(
  { plan, components }: HostObservation,
  drift: DetectedDrift | undefined,
  now: number,
): WindowsHealInput {
  const unhealthy = components.filter((one) => assessComponent(one, now).state === 'unhealthy')
  return {
    plan,
    // Service ops are left out, because the round reconciles services itself.
    drift: [...(drift?.repairable.values() ?? [])].flat().filter(({ target }) => target !== 'service'),
    unhealthy: new Set(unhealthy.flatMap(({ component }) => toRoles(component))),
    stopped: new Set(
      components
        .filter(({ stoppedByOperator }) => stoppedByOperator === true)
        .map(({ component }) => component),
    ),
  }
}

function toRoles(component: string): WorkerRole[] {
  return workerRoles.filter((role) => role === component)
}

function toComponentHealth(
  observed: ComponentObservation,
  actions: readonly HealAction[],
  restarts: Pick<RestartWatch, 'count'>,
  waitingFor: string | undefined,
  now: number,
): ComponentHealth {
  const { component, unit, unrepairable } = observed
  const condition = assessComponent(observed, now)
  const last = actions.find((one) => one.component === component)
  const isBusy = last !== undefined && last.action !== 'recovered'
  const unhealthyState = last?.action === 'give-up' ? 'exhausted' : isBusy ? 'healing' : 'unhealthy'
  const because = condition.state === 'unhealthy' ? condition.because : waitingFor
  const state = condition.state === 'unhealthy' || isDown(observed) ? unhealthyState : 'healthy'
  const code =
    state === 'exhausted' ? last?.code : condition.state === 'unhealthy' ? condition.code : undefined
  return {
    component,
    state: observed.stoppedByOperator === true ? 'blocked' : state,
    since: new Date(unit?.changed ?? now).toISOString(),
    ...(state === 'healthy' || because === undefined ? {} : { because }),
    ...(code === undefined ? {} : { code }),
    ...(unit === undefined
      ? {}
      : {
          service: {
            name: unit.name,
            active: unit.state.active,
            sub: unit.state.sub,
            restarts: restarts.count(unit.name),
            enabled: unit.state.enabled,
          },
        }),
    drift: [...unrepairable],
  }
}
