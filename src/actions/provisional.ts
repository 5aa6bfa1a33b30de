import type { Finding } from '../contract/finding.ts'
import { joinNames } from '../kit/text.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import { selectActiveProvisional, selectRolledBack } from '../lifecycle/provisional/plan-provisional.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { type ActionOutcome, type ActionRun, refuse } from './phases/action-run.ts'
import { connectCluster, type ConnectClusterOptions } from './phases/connect.ts'
import type { OperatorLockDeps } from './phases/with-operator-lock.ts'
import { confirmAll, rollbackAll } from './phases/settle-provisional.ts'
import { buildUnreachableFindings } from './phases/unreachable-findings.ts'

export interface EndProvisionalOptions extends ConnectClusterOptions {
  readonly action: 'confirm' | 'rollback'
  readonly forceUnlock: boolean
}

/** Confirms or rolls back a provisional change. Phases: connect, then end the change on every host. */
export async function endProvisional(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: EndProvisionalOptions,
  run: ActionRun,
): Promise<EndProvisionalResult> {
  await using connection = await connectCluster(context, inputs, options, run)
  return await endProvisionalChange({ ...connection, ...options, context, run })
}

export interface EndProvisionalDeps extends OperatorLockDeps {
  readonly action: 'confirm' | 'rollback'
  readonly run: Pick<ActionRun, 'emit' | 'show'>
  /** Makes the command wait for hosts even after an interrupt. */
  readonly deferAbort: () => void
}

export interface EndProvisionalResult extends ActionOutcome {
  /** Hosts on which the change was confirmed or the rollback started. */
  readonly hosts: readonly string[]
}

/** Ends the provisional change on the connected hosts: confirms it, or rolls it back at once. */
export async function endProvisionalChange(deps: EndProvisionalDeps): Promise<EndProvisionalResult> {
  const { connected, run, action, deferAbort } = deps
  const unreachableFindings = buildUnreachableFindings(connected.unreachable).map((finding): Finding => ({
    ...finding,
    severity: 'warning',
  }))
  for (const finding of unreachableFindings) run.emit({ type: 'finding', finding })
  const pendingChanges = selectActiveProvisional(connected.provisionalChanges)
  if (pendingChanges.size === 0) return reportNothingPending(deps)
  deferAbort()
  const alreadyRolledBack =
    action === 'confirm'
      ? await confirmAll(deps, pendingChanges)
      : (await rollbackAll(deps, pendingChanges), [])
  // An unreachable host may also have the change and would then roll back by itself, so the result is
  // incomplete.
  const isComplete = alreadyRolledBack.length === 0 && unreachableFindings.length === 0
  if (alreadyRolledBack.length > 0) run.show({ type: 'already-rolled-back', hosts: alreadyRolledBack })
  return {
    status: isComplete ? 'ok' : 'changes-pending',
    result: { outcome: 'done' },
    hosts: [...pendingChanges.keys()].filter((host) => !alreadyRolledBack.includes(host)),
  }
}

/**
 * Reports that no reachable host has a pending change. This is an error if the operator wanted to confirm a
 * change that was already rolled back. It is also an error if unreachable hosts may have a pending change.
 */
function reportNothingPending({ connected, run, action }: EndProvisionalDeps): EndProvisionalResult {
  const rolledBackHosts = [...selectRolledBack(connected.provisionalChanges).keys()]
  if (action === 'confirm' && rolledBackHosts.length > 0) {
    const finding: Finding = {
      code: 'PROVISIONAL_ENDED',
      severity: 'error',
      message: `no provisional change is pending: ${joinNames(rolledBackHosts)} already rolled back`,
      hint: 'show the changes: hyperkube plan; apply them again: hyperkube up --provisional 10m',
    }
    return { ...refuse(run, [finding]), hosts: [] }
  }
  const unreachable = [...connected.unreachable.keys()]
  if (unreachable.length > 0) {
    const finding: Finding = {
      code: 'PROVISIONAL_UNKNOWN',
      severity: 'error',
      message: `cannot connect to ${joinNames(unreachable)}; a provisional change may be pending there and rolls back unless confirmed`,
      hint: `check the network and ssh access to these hosts, then run: hyperkube provisional ${action}`,
    }
    return { ...refuse(run, [finding]), hosts: [] }
  }
  run.show({ type: 'no-provisional-change' })
  return { status: 'ok', result: { outcome: 'unchanged' }, hosts: [] }
}
