import type { HealAction } from '../../../contract/health.ts'
import { elapsed } from './elapsed.ts'

const [second, minute, hour] = [1000, 60_000, 3_600_000]

/**
 * One attempt to heal a component. Drift is always repaired too, even if `actions` does not contain `repair`.
 */
export interface EscalationStep {
  /** Milliseconds to wait after the previous step. */
  readonly afterMs: number
  readonly actions: readonly HealAction['action'][]
  /** Component to restart first, even if it is healthy. */
  readonly restartFirst?: string
}

/** Steps to try for an unhealthy component, in order. */
export interface EscalationPolicy {
  readonly name: 'default' | 'legacy-script'
  readonly steps: readonly EscalationStep[]
  /**
   * Steps that replace `steps` for certain components (key: component name). No start grace is added to their
   * waits.
   */
  readonly componentSteps: ReadonlyMap<string, readonly EscalationStep[]>
  /** Step that is repeated after all steps were tried. */
  readonly repeat: EscalationStep
  /** Milliseconds that a start may take before probes can succeed. */
  readonly startupMs: number
  /**
   * Milliseconds that a start may take while the process is busy. On a slow or overloaded host a restart
   * would begin the same work again.
   */
  readonly busyStartupMs: number
}

export const defaultPolicy: EscalationPolicy = {
  name: 'default',
  steps: [
    { afterMs: 0, actions: ['restart'] },
    { afterMs: 30 * second, actions: ['regenerate', 'repair', 'restart'] },
    { afterMs: 30 * second, actions: ['capture-logs', 'restart'] },
    ...[0.5, 1, 2, 5, 10].map((pause): EscalationStep => ({ afterMs: pause * minute, actions: ['restart'] })),
    { afterMs: minute, actions: ['give-up'] },
  ],
  componentSteps: new Map(),
  repeat: { afterMs: hour, actions: ['regenerate', 'repair', 'restart'] },
  startupMs: 30 * second,
  busyStartupMs: 5 * minute,
}

/**
 * Builds six restart attempts. The fourth also restarts the API proxy, and the last captures logs first. If
 * the component is still unhealthy, healing gives up.
 */
function buildSixTries(seconds: number): readonly EscalationStep[] {
  const afterMs = seconds * second
  return [
    { afterMs: 0, actions: ['restart'] },
    { afterMs, actions: ['restart'] },
    { afterMs, actions: ['restart'] },
    { afterMs, actions: ['restart'], restartFirst: 'apiserver-proxy' },
    { afterMs, actions: ['restart'] },
    { afterMs, actions: ['capture-logs', 'restart'] },
    { afterMs, actions: ['give-up'] },
  ]
}

/** Policy of the shell script that hyperkube replaced. The script handled three components. */
export const legacyScriptPolicy: EscalationPolicy = {
  ...defaultPolicy,
  name: 'legacy-script',
  componentSteps: new Map([
    ['flanneld', buildSixTries(20)],
    ['kubelet', buildSixTries(15)],
    ['kube-proxy', buildSixTries(10)],
  ]),
}

export const escalationPolicies = {
  default: defaultPolicy,
  'legacy-script': legacyScriptPolicy,
} as const satisfies Record<EscalationPolicy['name'], EscalationPolicy>

export function selectSteps(
  { steps, componentSteps }: EscalationPolicy,
  component: string,
): readonly EscalationStep[] {
  return componentSteps.get(component) ?? steps
}

/**
 * Returns how long a component may take to become healthy after a start, in milliseconds. Components in
 * `componentSteps` have no grace.
 */
export function selectStartGrace(
  { componentSteps }: EscalationPolicy,
  component: string,
  grace: number,
): number {
  return componentSteps.has(component) ? 0 : grace
}

/** Limits how often a host is disrupted: at most `max` times in `windowMs` milliseconds. */
export interface HealBudget {
  readonly max: number
  readonly windowMs: number
}

export const defaultHealBudget: HealBudget = { max: 10, windowMs: 600_000 }

/** Returns the disruptions that still count against the budget. */
export function filterRecentDisruptions(
  disruptions: readonly string[],
  { windowMs }: HealBudget,
  now: number,
): string[] {
  return disruptions.filter((at) => elapsed(at, now) < windowMs)
}
