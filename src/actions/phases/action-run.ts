import type { EmitEvent, StepResult } from '../../lifecycle/agents/event-stream.ts'
import type { Finding } from '../../contract/finding.ts'
import type { UnknownHostKey } from '../../ssh/host-key-errors.ts'
import type { Notice } from './notice.ts'

/**
 * How an action ended. `changes-pending`: changes remain, or the operator declined them. `not-confirmed`: the
 * action needs a confirmation, but there is no terminal to prompt on.
 */
export const actionStatuses = ['ok', 'changes-pending', 'failed', 'not-confirmed', 'interrupted'] as const
export type ActionStatus = (typeof actionStatuses)[number]

/** End of an action: the status for the caller, the result for the event log. */
export interface ActionOutcome {
  readonly status: ActionStatus
  readonly result: StepResult
}

/** Connects an action to its caller, who shows progress and asks the operator. */
export interface ActionRun {
  readonly emit: EmitEvent
  /** Shows what the action found or will do. */
  readonly show: (notice: Notice) => void
  readonly confirm: (question: ConfirmQuestion) => Promise<Confirmation>
  /**
   * Asks the operator to confirm or roll back a provisional change. Returns `over` when the time `until` has
   * passed.
   */
  readonly decideProvisional: (until: Date) => Promise<ProvisionalDecision>
}

/**
 * `cluster-name` is for changes that cannot be undone: the operator must type the name of the cluster.
 * `host-keys` asks whether unknown ssh host keys are accepted; a confirmation of changes does not include it.
 */
export type ConfirmQuestion =
  | { readonly type: 'changes' }
  | { readonly type: 'host-keys'; readonly unknown: readonly UnknownHostKey[] }
  | { readonly type: 'cluster-name'; readonly name: string }

/** `no-terminal`: there is no terminal to prompt on, and no flag confirms the changes. */
export type Confirmation = 'confirmed' | 'declined' | 'no-terminal'

/**
 * `left`: the operator interrupted the prompt, and the change stays provisional. `over`: the time has passed.
 * `no-prompt`: prompts are not possible.
 */
export type ProvisionalDecision = 'confirm' | 'rollback' | 'left' | 'over' | 'no-prompt'

/** Builds the outcome of an action that the operator did not confirm. */
export function buildUnconfirmedOutcome(confirmation: Exclude<Confirmation, 'confirmed'>): ActionOutcome {
  const status = confirmation === 'declined' ? 'changes-pending' : 'not-confirmed'
  return { status, result: { outcome: 'unchanged' } }
}

/** Builds the outcome of an action that was refused because of findings. It contains the first error. */
export function buildRefusedOutcome(findings: readonly Finding[]): ActionOutcome {
  const { code = '', message = '', hint } = findings.find(({ severity }) => severity === 'error') ?? {}
  const failure = { code, message, ...(hint === undefined ? {} : { hint }) }
  return { status: 'failed', result: { outcome: 'failed', failure } }
}

/** Reports findings and refuses the action because of them. */
export function refuse({ emit }: Pick<ActionRun, 'emit'>, findings: readonly Finding[]): ActionOutcome {
  for (const finding of findings) emit({ type: 'finding', finding })
  return buildRefusedOutcome(findings)
}
