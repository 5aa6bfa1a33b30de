import type { Claim } from '../../contract/request.ts'
import { reportSingleStep } from '../../lifecycle/agents/event-stream.ts'
import {
  formatTimestamp,
  type PlannedProvisionalChange,
} from '../../lifecycle/provisional/plan-provisional.ts'
import {
  confirmProvisionalChange,
  rollBackProvisionalChange,
} from '../../lifecycle/provisional/provisional-requests.ts'
import type { WorkspaceContext } from '../../workspace/context.ts'
import type { ActionOutcome, ActionRun, ActionStatus } from './action-run.ts'
import { type OperatorLockDeps, withOperatorLock } from './with-operator-lock.ts'

/** State of a provisional change when the action ends. */
export interface ProvisionalEnd {
  readonly state: 'provisional' | 'confirmed' | 'rolling-back'
  /** Time at which the first host rolls back, unless the change is confirmed. */
  readonly until: string
}

export interface SettledOutcome extends ActionOutcome {
  readonly provisional: ProvisionalEnd
}

interface SettleDeps extends OperatorLockDeps {
  readonly context: Pick<WorkspaceContext, 'operator' | 'signal' | 'now'>
  readonly run: ActionRun
}

/** IDs of provisional changes, by host name. */
export type ProvisionalIds = ReadonlyMap<string, { readonly id: string }>

/**
 * If prompts are possible, asks the operator whether to confirm a provisional change that was applied on all
 * hosts.
 */
export async function settleProvisionalChange(
  deps: SettleDeps,
  { id, durationMs, hosts }: PlannedProvisionalChange,
  outcome: ActionOutcome,
): Promise<SettledOutcome> {
  const until = new Date(deps.context.now().getTime() + durationMs)
  const ids = new Map([...hosts.keys()].map((host) => [host, { id }]))
  const buildOutcome = (state: ProvisionalEnd['state'], status: ActionStatus): SettledOutcome => ({
    ...outcome,
    status,
    provisional: { state, until: formatTimestamp(until.toISOString()) },
  })
  switch (await deps.run.decideProvisional(until)) {
    case 'confirm':
      await confirmAll(deps, ids)
      return buildOutcome('confirmed', outcome.status)
    case 'rollback':
      await rollbackAll(deps, ids)
      return buildOutcome('rolling-back', 'changes-pending')
    case 'over':
      return buildOutcome('rolling-back', 'changes-pending')
    case 'left':
      return buildOutcome('provisional', 'interrupted')
    default:
      return buildOutcome('provisional', outcome.status)
  }
}

/** Confirms the change on all hosts. Returns the hosts that had rolled back already. */
export async function confirmAll(
  deps: OperatorLockDeps,
  changes: ProvisionalIds,
): Promise<readonly string[]> {
  return sendToHosts(deps, 'confirm', 'confirm the provisional change', changes, confirmProvisionalChange)
}

/**
 * Starts the rollback as if the provisional change had expired. Each host rolls back by itself after its own
 * delay, so the command need not wait.
 */
export async function rollbackAll(deps: OperatorLockDeps, changes: ProvisionalIds): Promise<void> {
  await sendToHosts(
    deps,
    'rollback',
    'roll back the provisional change, one host at a time',
    changes,
    rollBackProvisionalChange,
  )
}

async function sendToHosts<T>(
  deps: OperatorLockDeps,
  step: string,
  title: string,
  changes: ProvisionalIds,
  send: (
    changes: ProvisionalIds,
    agents: OperatorLockDeps['connected']['sessions'],
    claim: Claim,
  ) => Promise<T>,
): Promise<T> {
  const { connected, run } = deps
  return withOperatorLock(deps, async ({ claim }, signal) =>
    reportSingleStep({ emit: run.emit, signal }, { step, title, hosts: [...changes.keys()] }, async () =>
      send(changes, connected.sessions, claim),
    ),
  )
}
