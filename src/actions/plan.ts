import type { Facts } from '../contract/facts.ts'
import { hasErrors } from '../contract/finding.ts'
import { createClusterClient } from '../lifecycle/cluster-client/create-cluster-client.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import { hasChanges, type Proposal } from '../lifecycle/proposal/proposal.ts'
import { buildOfflineProposal, type PreviousPlans } from '../lifecycle/proposal/offline-proposal.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { type ActionOutcome, type ActionRun, buildRefusedOutcome } from './phases/action-run.ts'
import { connectCluster, type ConnectClusterOptions } from './phases/connect.ts'
import { proposeChanges } from './phases/propose.ts'

export interface PlanOptions extends ConnectClusterOptions {
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  /** Hosts to change; undefined for all hosts. */
  readonly limit: readonly string[] | undefined
  /** Whether to read the current contents of files that would change. */
  readonly fileContents: boolean
}

export interface PlanOutcome extends ActionOutcome {
  readonly proposal: Proposal
}

/**
 * Plans from the current state of the hosts. Phases: connect, propose. To read a host, the hyperkube agent is
 * installed on it; nothing else is changed.
 */
export async function planFromHosts(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: PlanOptions,
  run: ActionRun,
): Promise<PlanOutcome> {
  await using connection = await connectCluster(context, inputs, options, run)
  const proposal = await proposeChanges({
    ...connection,
    ...options,
    context,
    allowProvisional: true,
    run,
    createClient: createClusterClient,
  })
  const isPending = hasChanges(proposal) || connection.connected.unreachable.size > 0
  return buildPlanOutcome(proposal, isPending)
}

/** Plans from recorded facts and previous plans. Connects to no host. */
export function planFromFacts(
  inputs: ClusterInputs,
  facts: ReadonlyMap<string, Facts>,
  previous: PreviousPlans,
  { ignore, limit }: Pick<PlanOptions, 'ignore' | 'limit'>,
): PlanOutcome {
  const proposal = buildOfflineProposal(inputs, facts, previous, {
    ignored: ignore,
    limited: limit !== undefined,
  })
  return buildPlanOutcome(proposal, proposal.steps.length > 0)
}

function buildPlanOutcome(proposal: Proposal, isPending: boolean): PlanOutcome {
  if (hasErrors(proposal.findings)) return { ...buildRefusedOutcome(proposal.findings), proposal }
  return { status: isPending ? 'changes-pending' : 'ok', result: { outcome: 'unchanged' }, proposal }
}
