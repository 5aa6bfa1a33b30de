import type { ComponentHealth, HealAction } from '../../../contract/health.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import { type WorkerRole, workerRoles } from '../../windows-worker/worker.ts'
import { assessComponent, type ComponentObservation } from '../decision/component-observation.ts'
import { elapsed } from '../decision/elapsed.ts'
import { defaultHealBudget } from '../decision/escalation-policy.ts'
import { detectDrift, type DetectedDrift, withKnownDigests } from '../detect-drift.ts'
import type { HealReconciler, PlanObservation, RoundInput } from '../reconciler.ts'
import { healWindowsOnce, type WindowsHealDeps, type WindowsHealInput } from './heal-once.ts'
import { createLogRotation } from './rotate-logs.ts'
import { type RestartWatch, watchRestarts } from './watch-restarts.ts'

export interface WindowsReconcilerDeps extends WindowsHealDeps {
  readonly log: (text: string) => void
}

/** Heals a Windows host as a whole: one step per round reconciles its services and networks. */
export function createWindowsReconciler(deps: WindowsReconcilerDeps): HealReconciler {
  const { host, backoff } = deps
  const hostWithDigests = withKnownDigests(host)
  const restarts = watchRestarts(host)
  const rotateLogs = createLogRotation(host)
  let drift: DetectedDrift | undefined
  let waitingFor: string | undefined

  /** Runs work whose failure must not prevent healing. Errors are only logged. */
  const bestEffort = async (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => deps.log(toPrintable(formatError(error))))

  /** Returns a `recovered` action for each component that was healed and is healthy again. */
  const listRecovered = ({ observed, healState }: RoundInput): HealAction[] => {
    if (waitingFor !== undefined) return []
    const openComponents = listOpenComponents(healState.actions)
    const now = host.clock.now()
    return observed.components.flatMap((one): HealAction[] => {
      const { component } = one
      // A component can match its plan and still be down or unhealthy for a while.
      if (!openComponents.has(component) || isDown(one) || isUnhealthy(one, now.getTime())) return []
      const because = 'it matches the plan'
      return [
        { at: now.toISOString(), component, action: 'recovered', because, outcome: 'done', details: [] },
      ]
    })
  }

  return {
    policy: backoff.name,
    // The service manager of Windows restarts services itself. An immediate healing round would interfere.
    wakesOnChange: false,
    async detectDrift(plan) {
      drift = await detectDrift(hostWithDigests, plan)
      return drift
    },
    findDataRisks: async () => new Map(),
    needsUnits: ({ actions }) => listOpenComponents(actions).size > 0,

    async maintain({ plan, components }) {
      await bestEffort(async () => restarts.observe(plan, components))
      await bestEffort(async () => rotateLogs(plan))
    },

    decide(input) {
      const { observed, healState, suspended, now } = input
      const round = { healState, notices: [] }
      if (suspended !== undefined) return { ...round, steps: [] }
      return {
        ...round,
        steps: [
          {
            async perform(signal) {
              const result = await healWindowsOnce(deps, toHealInput(observed, drift, now), signal)
              waitingFor = result.waitingFor
              const hasActions = result.actions.length > 0
              const actions = hasActions ? result.actions : listRecovered(input)
              return { actions, mayHaveChangedHost: hasActions }
            },
          },
        ],
      }
    },

    assess({ now, components, healState: { actions } }) {
      const recent = actions.filter(
        ({ at, action }) => action === 'restart' && elapsed(at, now) < defaultHealBudget.windowMs,
      )
      return {
        components: components.map((one) => toComponentHealth(one, actions, restarts, waitingFor, now)),
        disruptionCount: recent.length,
      }
    },
  }
}

/** Returns the components that have heal actions after their last `recovered` action. */
function listOpenComponents(actions: readonly HealAction[]): ReadonlySet<string> {
  const last = new Map(actions.toReversed().map(({ component, action }) => [component, action]))
  return new Set([...last].flatMap(([component, action]) => (action === 'recovered' ? [] : [component])))
}

function isDown({ unit }: Pick<ComponentObservation, 'unit'>): boolean {
  return unit !== undefined && unit.state.active !== 'active'
}

function isUnhealthy(observed: ComponentObservation, now: number): boolean {
  return assessComponent(observed, now).state === 'unhealthy'
}

/** Converts an observation into the input of a round. */
function toHealInput(
  { plan, components }: PlanObservation,
  drift: DetectedDrift | undefined,
  now: number,
): WindowsHealInput {
  const unhealthy = components.filter((one) => isUnhealthy(one, now))
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
