import {
  type HeldUpgradeDeps,
  prepareConfirmation,
  prepareHold,
  prepareResumedHold,
  prepareRollback,
  refuseDuringHold,
} from '../../actions/held-upgrade.ts'
import type { ActionStatus } from '../../actions/phases/action-run.ts'
import type { UpgradeChange } from '../../actions/upgrade.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { exitCodeByStatus } from '../run/run-action.ts'
import { formatHoldCommands } from '../text/held-upgrade-text.ts'
import { withValidChange } from './run-changed-up.ts'
import { runUp } from './run-up.ts'
import { upFlags } from './up-flags.ts'

/** Actions that end a held upgrade. */
export const heldUpgradeActions = ['confirm', 'rollback'] as const

export type HeldUpgradeRequest = {
  readonly cluster: Cluster
  /** Saves and verifies a snapshot; undefined if the operator wants none. */
  readonly takeSnapshot: (() => Promise<ActionStatus>) | undefined
} & (
  | { readonly action: 'hold'; readonly to: string }
  | { readonly action: (typeof heldUpgradeActions)[number] }
)

/**
 * Starts, confirms or rolls back a held upgrade. Each action changes cluster.yml and cluster.lock and runs
 * `up`, so `up` resumes an interrupted action. A snapshot is saved before the first change, except before a
 * rollback.
 */
export async function runHeldUpgrade(
  context: CommandContext,
  options: Invocation['options'],
  request: HeldUpgradeRequest,
): Promise<ExitCode> {
  return withValidChange(context, async () => {
    const change = await prepareChange(
      { context, files: options, report: (line) => context.stderr.write(`${line}\n`) },
      request,
    )
    if (request.action !== 'rollback' && !isResumed(request)) {
      const status = (await request.takeSnapshot?.()) ?? 'ok'
      if (status !== 'ok') return exitCodeByStatus[status]
    }
    const code = await runUp(context, options, { ...change, command: formatCommand(request) })
    const { dryRun, progress } = upFlags.parse(options)
    if (code === exitCodes.ok && !dryRun && progress !== 'json' && options.quiet !== true)
      context.stderr.write(formatHoldCommands(change.cluster.spec))
    return code
  })
}

async function prepareChange(deps: HeldUpgradeDeps, request: HeldUpgradeRequest): Promise<UpgradeChange> {
  const { cluster } = request
  if (request.action === 'hold') {
    if (isResumed(request)) return prepareResumedHold(deps)
    refuseDuringHold(cluster)
    return prepareHold(deps, cluster, request.to)
  }
  return request.action === 'confirm' ? prepareConfirmation(deps, cluster) : prepareRollback(deps, cluster)
}

/** Returns whether the same upgrade is already held, completely or up to an interruption. */
function isResumed(request: HeldUpgradeRequest): boolean {
  return request.action === 'hold' && request.cluster.spec.heldUpgrade?.to === request.to
}

function formatCommand(request: HeldUpgradeRequest): string {
  return request.action === 'hold' ? `upgrade --to ${request.to} --hold` : `upgrade ${request.action}`
}
