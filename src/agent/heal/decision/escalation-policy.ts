import type { HealAction } from '../../../contract/health.ts'

const [second, minute, hour] = [1000, 60_000, 3_600_000]

/** One attempt. Every attempt also repairs drift, whether `actions` lists repair or not. */
export interface EscalationStep {
  /** Milliseconds after the previous step. */
  readonly afterMs: number
  readonly actions: readonly HealAction['action'][]
  /** A component to restart first, although it may be healthy. */
  readonly restartFirst?: string
}

/** Which steps are tried for an unhealthy component, and in which order. */
export interface EscalationPolicy {
  readonly name: 'usual' | 'seed'
  readonly steps: readonly EscalationStep[]
  /**
   * Steps for some components, by name, instead of `steps`. Their waits are exact: no start grace is added.
   */
  readonly componentSteps: ReadonlyMap<string, readonly EscalationStep[]>
  /** Repeated after all steps were tried. */
  readonly repeat: EscalationStep
  /** How long a start may take before probes can succeed, in milliseconds. */
  readonly startupMs: number
}

export const defaultPolicy: EscalationPolicy = {
  name: 'usual',
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
}

/**
 * Six tries: the fourth restarts the API proxy first, the last captures the logs, and then healing is
 * exhausted.
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

/** Reproduces the shell script that hyperkube replaced. The script knew three components. */
export const legacyScriptPolicy: EscalationPolicy = {
  ...defaultPolicy,
  name: 'seed',
  componentSteps: new Map([
    ['flanneld', buildSixTries(20)],
    ['kubelet', buildSixTries(15)],
    ['kube-proxy', buildSixTries(10)],
  ]),
}

export const escalationPolicies = {
  usual: defaultPolicy,
  seed: legacyScriptPolicy,
} as const satisfies Record<EscalationPolicy['name'], EscalationPolicy>

export function selectSteps(
  { steps, componentSteps }: EscalationPolicy,
  component: string,
): readonly EscalationStep[] {
  return componentSteps.get(component) ?? steps
}

/** Returns how long a component may take after a start before it counts as unhealthy, in milliseconds. */
export function selectStartGrace(
  { componentSteps }: EscalationPolicy,
  component: string,
  grace: number,
): number {
  return componentSteps.has(component) ? 0 : grace
}
