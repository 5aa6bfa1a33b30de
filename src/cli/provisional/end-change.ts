import type { Finding } from '../../contract/finding.ts'
import {
  selectActiveProvisional,
  selectRolledBack,
} from '../../lifecycle/auto-rollback/provisional-changes.ts'
import { exitCodes } from '../command.ts'
import type { CommandOutcome } from '../run-with-progress.ts'
import { buildUnreachableFindings } from '../up/unreachable-findings.ts'
import { buildRefusedResult } from '../up/refused-result.ts'
import type { OperatorLockDeps } from '../up/operator-lock.ts'
import { joinNames } from '../format-text.ts'
import { rollbackAll, confirmAll } from './settle-change.ts'

export interface EndProvisionalDeps extends OperatorLockDeps {
  readonly action: 'confirm' | 'rollback'
  /** After this call, an interrupt no longer stops the wait for hosts. */
  readonly deferAbort: () => void
}

export interface EndProvisionalResult extends CommandOutcome {
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
  // Unreachable hosts may also have the change, and would then roll back by themselves.
  const isComplete = alreadyRolledBack.length === 0 && unreachableFindings.length === 0
  if (alreadyRolledBack.length > 0)
    run.print(
      `${joinNames(alreadyRolledBack)} rolled back before that; hyperkube up applies the change again\n`,
    )
  return {
    code: isComplete ? exitCodes.ok : exitCodes.changesPending,
    result: { outcome: 'done' },
    hosts: [...pendingChanges.keys()].filter((host) => !alreadyRolledBack.includes(host)),
  }
}

/**
 * Reports that no change is pending. This is an error only if the operator wanted to confirm a change that
 * was already rolled back.
 */
function reportNothingPending({ connected, run, action }: EndProvisionalDeps): EndProvisionalResult {
  const rolledBackHosts = [...selectRolledBack(connected.provisionalChanges).keys()]
  if (action === 'confirm' && rolledBackHosts.length > 0) {
    const finding: Finding = {
      code: 'PROVISIONAL_ENDED',
      severity: 'error',
      message: `there is no provisional change any more: ${joinNames(rolledBackHosts)} rolled back`,
      hint: 'hyperkube plan shows the changes; hyperkube up --provisional applies them again',
    }
    run.emit({ type: 'finding', finding })
    return { ...buildRefusedResult([finding]), hosts: [] }
  }
  run.print('there is no provisional change\n')
  return { code: exitCodes.ok, result: { outcome: 'unchanged' }, hosts: [] }
}
