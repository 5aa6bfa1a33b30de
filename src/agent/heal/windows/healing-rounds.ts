import type { HealAction, HealState } from '../../../contract/health.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import { startupGraceMs } from '../../windows-worker/reconcile-service.ts'
import {
  assessComponent,
  type ComponentObservation,
  listLocalProbes,
} from '../decision/component-observation.ts'
import { elapsed } from '../decision/elapsed.ts'
import {
  type Escalation,
  recoverEscalation,
  resumeEscalation,
  startEscalation,
} from '../decision/escalation.ts'

/**
 * Limits of healing on a Windows host. They count rounds, not actions. A round is all actions on one
 * component for one fault. One fault, for example a reboot, needs several steps and restarts several
 * services. A round counts only if the component is still not healthy after it.
 */
export const roundLimits = {
  /** Number of rounds in a row without success after which healing of a component is exhausted. */
  maxRounds: 10,
  /**
   * Actions within this many milliseconds belong to the same round, for example a stop and the start after
   * it.
   */
  roundMs: 30_000,
  /** Milliseconds after which an exhausted component is tried once more, as on Linux. */
  retryMs: 3_600_000,
} as const

/**
 * Counts the actions of a healing round. `step` of an escalation is the number of rounds without success,
 * including the current one.
 */
export function recordRound(
  healState: HealState,
  actions: readonly HealAction[],
  { digest, now }: Pick<RoundAssessmentInput, 'digest' | 'now'>,
): HealState {
  const escalations = { ...healState.escalations }
  for (const component of new Set(actions.map((one) => one.component))) {
    const before = escalations[component]
    if (before !== undefined && isSameRound(before, now)) continue
    const { step, ...rest } = before === undefined ? startEscalation(now) : resumeEscalation(before, now)
    escalations[component] = { ...rest, step: step + 1, lastStepAt: new Date(now).toISOString() }
  }
  return { ...healState, plan: digest, escalations }
}

function isSameRound({ lastStepAt }: Escalation, now: number): boolean {
  return lastStepAt !== undefined && elapsed(lastStepAt, now) < roundLimits.roundMs
}

/**
 * Records that these components are healthy again. Their last round does not count, even if they fail again
 * soon.
 */
export function recordRecoveries(
  healState: HealState,
  components: readonly string[],
  now: number,
): HealState {
  const escalations: Record<string, Escalation> = {}
  for (const [component, escalation] of Object.entries(healState.escalations)) {
    const { step, recoveredAt } = escalation
    const counted = { ...escalation, step: recoveredAt === undefined ? Math.max(0, step - 1) : step }
    const next = components.includes(component) ? recoverEscalation(counted, now) : escalation
    if (next !== undefined) escalations[component] = next
  }
  return { ...healState, escalations }
}

export interface RoundAssessmentInput {
  readonly now: number
  /** Digest of the applied plan. */
  readonly digest: string
  readonly components: readonly ComponentObservation[]
  readonly healState: HealState
  /** Last boot of the host; undefined if it is unknown. */
  readonly bootedAt: number | undefined
  /** True if `roundLimits` apply. They do not apply to the legacy script policy, which never stops trying. */
  readonly isLimited: boolean
}

/**
 * Updates the round counts from an observation. Another plan or a reboot resets all counts, and a healthy
 * component recovers. Reports each component that has used all its rounds.
 */
export function assessRounds(input: RoundAssessmentInput): {
  readonly healState: HealState
  readonly notices: readonly HealAction[]
} {
  const { now, digest, components, healState: before, bootedAt, isLimited } = input
  const isCurrent = ({ lastStepAt, since }: Escalation): boolean =>
    before.plan === digest && Date.parse(lastStepAt ?? since) >= (bootedAt ?? 0)
  const unhealthy = new Set(
    components.flatMap((one) => (assessComponent(one, now).state === 'unhealthy' ? [one.component] : [])),
  )
  const current = Object.entries(before.escalations)
    .filter(([, one]) => isCurrent(one))
    .map(([name, one]) => [name, unhealthy.has(name) ? resumeEscalation(one, now) : one] as const)
  const counted: HealState = { ...before, escalations: Object.fromEntries(current) }
  const isRecovered = (observed: ComponentObservation): boolean => {
    const escalation = counted.escalations[observed.component]
    return escalation !== undefined && isHealthySince(observed, Date.parse(escalation.lastStepAt ?? ''), now)
  }
  const recovered = components.filter(isRecovered).map(({ component }) => component)
  const healState = recordRecoveries(counted, recovered, now)
  if (!isLimited) return { healState, notices: [] }
  const exhausted = Object.entries(healState.escalations).filter(([, one]) => isUsedUp(one, now))
  return {
    healState: {
      ...healState,
      escalations: {
        ...healState.escalations,
        ...Object.fromEntries(exhausted.map(([name, one]) => [name, { ...one, exhausted: true }])),
      },
    },
    notices: exhausted.map(([component, { since }]) => buildGiveUp(component, since, now)),
  }
}

/**
 * True if all allowed rounds were used and the start grace after the last round has passed without a
 * recovery.
 */
function isUsedUp({ step, lastStepAt, recoveredAt, exhausted }: Escalation, now: number): boolean {
  if (exhausted || recoveredAt !== undefined || lastStepAt === undefined) return false
  return step >= roundLimits.maxRounds && elapsed(lastStepAt, now) >= startupGraceMs
}

function buildGiveUp(component: string, since: string, now: number): HealAction {
  return {
    at: new Date(now).toISOString(),
    component,
    action: 'give-up',
    because: `it is not healthy after ${roundLimits.maxRounds} healing rounds in ${formatDuration(elapsed(since, now))}`,
    code: 'HEAL_EXHAUSTED',
    outcome: 'done',
    details: [],
  }
}

/** True if the component runs and all its local probes have succeeded after the time `since`. */
function isHealthySince(observed: ComponentObservation, since: number, now: number): boolean {
  const { unit } = observed
  if (unit !== undefined && unit.state.active !== 'active') return false
  const isFresh = listLocalProbes(observed).every(({ observedAt = 0 }) => observedAt > since)
  return isFresh && assessComponent(observed, now).state === 'healthy'
}

/**
 * Lists the exhausted components, which healing must leave alone. After `retryMs` an exhausted component is
 * left out, so that healing tries it once more.
 */
export function listExhausted({ escalations }: HealState, now: number): ReadonlySet<string> {
  const isHeld = ({ exhausted, lastStepAt }: Escalation): boolean => {
    const age = elapsed(lastStepAt ?? '', now)
    return exhausted && age >= roundLimits.roundMs && age < roundLimits.retryMs
  }
  return new Set(Object.entries(escalations).flatMap(([name, one]) => (isHeld(one) ? [name] : [])))
}

/** Returns the number of rounds without success of the worst component. */
export function countFailedRounds({ escalations }: HealState): number {
  const open = Object.values(escalations).filter(({ recoveredAt }) => recoveredAt === undefined)
  return Math.max(0, ...open.map(({ step }) => step))
}
