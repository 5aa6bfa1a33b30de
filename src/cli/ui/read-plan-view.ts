import { planFromHosts } from '../../actions/plan.ts'
import type { ActionRun } from '../../actions/phases/action-run.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { describeObjectChanges } from '../../lifecycle/cluster-objects/changes.ts'
import type { Proposal } from '../../lifecycle/proposal/proposal.ts'
import { describeGate, describeStep } from '../../rollout/describe.ts'
import type { PlanView } from '../../ui/views.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import type { CommandContext } from '../command/command.ts'
import { noPaint } from '../text/no-paint.ts'
import { formatFindings } from '../command/print.ts'
import { formatAddonChanges } from '../text/addons-text.ts'
import { formatHostFileDiffs } from '../text/proposal-text.ts'
import { createSilentContext } from './read-document.ts'

/**
 * Plans like `hyperkube plan --diff`, but installs no agents and accepts no host keys. Hosts that need either
 * are reported as unreachable.
 */
export async function readPlanView(ownContext: CommandContext, files: ClusterFiles): Promise<PlanView> {
  const silent = { write: () => undefined }
  const context = createSilentContext(ownContext, silent, silent)
  const { cluster, findings } = await loadCluster(context, files.file)
  if (cluster === undefined) {
    throw new HyperkubeError('UI_VIEW_EMPTY', formatFindings(findings).trim(), {
      hint: `hyperkube validate -f ${files.file}`,
    })
  }
  const inputs = await loadClusterInputs(context, files, cluster, { beforeCommit: true })
  const options = {
    ...{ files, forgetHostKeys: [], ignore: [], limit: undefined },
    ...{ fileContents: true, readOnly: true },
  }
  const { proposal } = await planFromHosts(context, inputs, options, readOnlyRun)
  return buildPlanView(cluster.metadata.name, proposal)
}

/** An action that asks the operator gets no confirmation. */
const readOnlyRun: ActionRun = {
  emit: () => undefined,
  show: () => undefined,
  confirm: async () => 'no-terminal',
  decideProvisional: async () => 'no-prompt',
}

export function buildPlanView(cluster: string, proposal: Proposal): PlanView {
  const text = { wide: true, diff: true, hosts: new Set<string>(), previousPlans: new Map() }
  const changed = proposal.plans.filter(({ host }) => (proposal.ops.get(host) ?? []).length > 0)
  return {
    cluster,
    findings: [...proposal.findings],
    hosts: changed.map((plan) => ({
      host: plan.host,
      roles: [...plan.roles],
      ops: [...(proposal.ops.get(plan.host) ?? [])],
      diff: formatHostFileDiffs(plan, proposal, text, noPaint),
    })),
    removedHosts: proposal.hostsToRemove.map(({ host }) => host),
    steps: proposal.steps.map((step) => ({
      title: describeStep(step),
      gates: step.after.map(describeGate),
    })),
    objects: describeObjectChanges(proposal.clusterChanges),
    addons: formatAddonChanges(proposal.addons, { wide: true, diff: true }, noPaint).trim(),
  }
}
