import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import type { Host } from '../../host/host.ts'
import { decideHealing } from '../decision/decide.ts'
import type { HealStep } from '../decision/decision-input.ts'
import {
  defaultHealBudget,
  type EscalationPolicy,
  filterRecentDisruptions,
} from '../decision/escalation-policy.ts'
import type { HealReconciler } from '../reconciler.ts'

/** Operations with which healing observes and changes a Linux host. */
export interface LinuxHealOperations extends Pick<HealReconciler, 'detectDrift' | 'findDataRisks'> {
  /**
   * Performs a step in a separate run. The returned actions include failures. Returns an empty list if an
   * operator has claimed the host or another plan was applied meanwhile.
   */
  perform(plan: NodePlan, step: HealStep, signal: AbortSignal): Promise<readonly HealAction[]>
}

export interface LinuxReconcilerDeps {
  readonly host: Pick<Host, 'clock'>
  readonly operations: LinuxHealOperations
  readonly policy: EscalationPolicy
}

/**
 * Creates a reconciler that heals each component with the steps of an escalation policy. The budget of the
 * host limits the disruptions.
 */
export function createLinuxReconciler({ host, operations, policy }: LinuxReconcilerDeps): HealReconciler {
  const rules = { policy, budget: defaultHealBudget, observedSince: host.clock.now().getTime() }
  return {
    policy: policy.name,
    wakesOnChange: true,
    detectDrift: async (plan) => operations.detectDrift(plan),
    findDataRisks: async (plan) => operations.findDataRisks(plan),
    needsUnits: () => false,
    maintain: async () => undefined,

    decide({ now, observed, healState: before, suspended }) {
      const { plan, digest, components } = observed
      // Escalations belong to a plan, so another plan begins without them.
      const healState = before.plan === digest ? before : { ...before, plan: digest, escalations: {} }
      const decision = decideHealing({ ...rules, now, components, healState, suspended })
      return {
        ...decision,
        steps: decision.steps.map((step) => ({
          perform: async (signal) => ({
            actions: await performSafely(host, operations, plan, step, signal),
            mayHaveChangedHost: true,
          }),
        })),
      }
    },

    assess(input) {
      const { healState, now } = input
      return {
        components: decideHealing({ ...rules, ...input }).components,
        budget: {
          ...rules.budget,
          used: filterRecentDisruptions(healState.disruptions, rules.budget, now).length,
        },
      }
    },
  }
}

async function performSafely(
  { clock }: LinuxReconcilerDeps['host'],
  operations: LinuxHealOperations,
  plan: NodePlan,
  step: HealStep,
  signal: AbortSignal,
): Promise<readonly HealAction[]> {
  try {
    return await operations.perform(plan, step, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { component, because, code } = step
    const at = clock.now().toISOString()
    const details = [toPrintable(formatError(error))]
    const reason = { because, ...(code === undefined ? {} : { code }) }
    return step.actions.map((action) => ({ at, component, action, ...reason, outcome: 'failed', details }))
  }
}
