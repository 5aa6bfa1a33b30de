import type { ComponentHealth, HealAction, HealState } from '../../../contract/health.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import { type WorkerRole, workerRoles } from '../../windows-worker/worker.ts'
import { recordActions } from '../decision/action-history.ts'
import { assessComponent, type ComponentObservation } from '../decision/component-observation.ts'
import { canRepair } from '../decision/repair-limits.ts'
import { detectDrift, type DetectedDrift, withKnownDigests } from '../detect-drift.ts'
import type { HealReconciler, RoundInput } from '../reconciler.ts'
import { healWindowsOnce, type WindowsHealDeps, type WindowsHealInput } from './heal-once.ts'
import {
  assessRounds,
  countFailedRounds,
  listExhausted,
  recordRecoveries,
  recordRound,
  roundLimits,
} from './healing-rounds.ts'
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
  /** Last boot of the host. The agent does not survive a reboot, so it is read once. */
  let bootedAt: number | undefined
  const isLimited = backoff.isLimited

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
      // A component can match its plan and still be down or unhealthy for a while. It has then not recovered
      // yet.
      if (!openComponents.has(component) || isDown(one) || isUnhealthy(one, now.getTime())) return []
      const because = 'it matches the plan'
      return [
        { at: now.toISOString(), component, action: 'recovered', because, outcome: 'done', details: [] },
      ]
    })
  }

  return {
    policy: backoff.name,
    // The service manager of Windows restarts services itself. A healing round right after a crash would
    // interfere with that.
    wakesOnChange: false,
    async detectDrift(plan) {
      drift = await detectDrift(hostWithDigests, plan).catch((error: unknown) => {
        // Nothing is repaired until a check succeeds.
        drift = undefined
        throw error
      })
      return drift
    },
    findDataRisks: async () => new Map(),
    needsUnits: ({ actions }) => listOpenComponents(actions).size > 0,

    async maintain({ plan, components }) {
      await bestEffort(async () => restarts.observe(plan, components))
      await bestEffort(async () => rotateLogs(plan))
      await bestEffort(async () => {
        bootedAt ??= toTime((await host.operations.system.describe({}))?.bootedAt)
      })
    },

    decide(input) {
      const { observed, suspended, now } = input
      if (suspended !== undefined) return { healState: input.healState, notices: [], steps: [] }
      const rounds = assessRounds({ ...input, ...observed, bootedAt, isLimited })
      const healState = recordActions(rounds.healState, rounds.notices)
      return {
        healState,
        notices: rounds.notices,
        steps: [
          {
            async perform(signal) {
              const healInput = toHealInput({ ...input, healState }, drift)
              const result = await healWindowsOnce(deps, healInput, signal)
              waitingFor = result.waitingFor
              if (result.actions.length === 0) {
                const recovered = listRecovered({ ...input, healState })
                const names = recovered.map(({ component }) => component)
                const updateState = (before: HealState) => recordRecoveries(before, names, now)
                return { actions: recovered, mayHaveChangedHost: false, updateState }
              }
              const updateState = (before: HealState): HealState =>
                isLimited ? recordRound(before, result.actions, { now, digest: observed.digest }) : before
              return { actions: result.actions, mayHaveChangedHost: true, updateState }
            },
          },
        ],
      }
    },

    assess({ now, components, healState }) {
      return {
        components: components.map((one) => toComponentHealth(one, healState, restarts, waitingFor, now)),
        budget: {
          used: countFailedRounds(healState),
          max: roundLimits.maxRounds,
          windowMs: roundLimits.retryMs,
        },
      }
    },
  }
}

function toTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
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
  { observed: { plan, components }, healState, now }: RoundInput,
  drift: DetectedDrift | undefined,
): WindowsHealInput {
  const unhealthy = components.filter((one) => isUnhealthy(one, now))
  return {
    plan,
    // Service ops are left out, because the round reconciles services itself.
    drift: [...(drift?.repairable ?? [])].flatMap(([component, ops]) =>
      canRepair(healState, component, now) ? ops.filter(({ target }) => target !== 'service') : [],
    ),
    exhausted: listExhausted(healState, now),
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
  { actions, escalations }: HealState,
  restarts: Pick<RestartWatch, 'count'>,
  waitingFor: string | undefined,
  now: number,
): ComponentHealth {
  const { component, unit, unrepairable } = observed
  const condition = assessComponent(observed, now)
  const last = actions.find((one) => one.component === component)
  const isBusy = last !== undefined && last.action !== 'recovered'
  const escalation = escalations[component]
  const isExhausted = escalation?.exhausted === true && escalation.recoveredAt === undefined
  const unhealthyState =
    isExhausted || last?.action === 'give-up' ? 'exhausted' : isBusy ? 'healing' : 'unhealthy'
  const because = condition.state === 'unhealthy' ? condition.because : waitingFor
  const isUnhealthyNow = condition.state === 'unhealthy' || isDown(observed) || isExhausted
  const state = isUnhealthyNow ? unhealthyState : 'healthy'
  const code =
    state === 'exhausted' ? 'HEAL_EXHAUSTED' : condition.state === 'unhealthy' ? condition.code : undefined
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
