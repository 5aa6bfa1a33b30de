import { hasChanges, type Proposal } from '../../lifecycle/build-proposal.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import { createClusterClient } from '../../lifecycle/cluster-client.ts'
import { hasErrors } from '../../contract/finding.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import type { ProgressKind } from '../render/open-progress.ts'
import { runWithProgress } from '../run-with-progress.ts'
import { buildRefusedResult } from '../up/refused-result.ts'
import { proposeChanges } from '../up/propose.ts'
import { connectCluster } from '../up/connect.ts'

export interface LivePlanFlags {
  readonly ignore: readonly string[]
  readonly diff: boolean
  readonly progress: ProgressKind
}

export interface LivePlanResult {
  readonly code: ExitCode
  /** Undefined if the hosts could not be inspected. */
  readonly proposal: Proposal | undefined
}

/**
 * Plans from the current state of the hosts. To read it, the hyperkube agent is installed on them; nothing
 * else is changed.
 */
export async function planFromHosts(
  context: CommandContext,
  options: Invocation['options'],
  inputs: ClusterInputs,
  { ignore, diff, progress }: LivePlanFlags,
): Promise<LivePlanResult> {
  const settings = {
    command: 'plan',
    cluster: inputs.cluster.metadata.name,
    progress,
    debug: options.debug === true,
  }
  let proposal: Proposal | undefined
  const { code } = await runWithProgress(context, settings, async (run) => {
    await using connection = await connectCluster(context, options, inputs, run, context.signal)
    proposal = await proposeChanges({
      ...connection,
      context,
      options,
      ignore,
      fileContents: diff,
      allowProvisional: true,
      run,
      createClient: createClusterClient,
    })
    if (hasErrors(proposal.findings)) return buildRefusedResult(proposal.findings)
    const hasChangesPending = hasChanges(proposal) || connection.connected.unreachable.size > 0
    return {
      code: hasChangesPending ? exitCodes.changesPending : exitCodes.ok,
      result: { outcome: 'unchanged' },
    }
  })
  return { code, proposal }
}
