import type { NodePlan } from '../../contract/node-plan.ts'
import { toPrintable } from '../../kit/printable.ts'
import { describeGate, describeStep } from '../../rollout/describe.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Paint } from '../command.ts'
import { formatAddonChanges } from './addons-text.ts'
import { selectChangedContents, formatFileDiffs, listPlanContents } from './file-diffs.ts'
import { describeObjectChanges } from '../../lifecycle/cluster-objects/changes.ts'
import type { Proposal } from '../../lifecycle/build-proposal.ts'
import { formatOps, formatOpSummary } from './op-summary.ts'
import { groupByText, formatCount, joinNames } from '../format-text.ts'

export interface ProposalTextOptions {
  /** Shows every op instead of counts. */
  readonly wide: boolean
  /** Shows changes inside files. */
  readonly diff: boolean
  /** Hosts to show. */
  readonly hosts: ReadonlySet<string>
  readonly previousPlans: ReadonlyMap<string, NodePlan>
}

/** Formats a proposal for people: changes by host, then the order of steps. */
export function formatProposal(
  { metadata, spec }: Cluster,
  proposal: Proposal,
  options: ProposalTextOptions,
  paint: Paint,
): string {
  const plans = proposal.plans.filter(({ host }) => options.hosts.has(host))
  const heading = `${paint('bold', metadata.name)}: Kubernetes ${spec.kubernetes} on ${formatCount(spec.hosts.length, 'host')}\n`
  const changed = plans.filter(({ host }) => (proposal.ops.get(host) ?? []).length > 0)
  const addons = formatAddonChanges(proposal.addons, options, paint)
  const { hostsToRemove, clusterChanges } = proposal
  if (changed.length + hostsToRemove.length + clusterChanges.length === 0 && addons === '')
    return `${heading}nothing to do\n`
  const hosts = groupByText(changed, (plan) => formatHostChanges(plan, proposal, options, paint)).map(
    ([text, samePlans]) => `\n${formatHostsHeading(samePlans, paint)}\n${text}`,
  )
  return `${heading}${hosts.join('')}${formatRemovedHosts(proposal, paint)}${formatClusterChanges(proposal, paint)}${addons}\n${formatSteps(proposal, options, paint)}`
}

/** Formats the hosts that are in the cluster but not in cluster.yml. */
function formatRemovedHosts({ hostsToRemove }: Proposal, paint: Paint): string {
  return hostsToRemove
    .map(({ host }) => {
      const name = paint('bold', toPrintable(host))
      return `\n${name} (not in cluster.yml any more)\n  ${paint('red', '-')} leaves the cluster, with everything of ours on it\n`
    })
    .join('')
}

function formatClusterChanges({ clusterChanges }: Proposal, paint: Paint): string {
  if (clusterChanges.length === 0) return ''
  const lines = describeObjectChanges(clusterChanges).map(
    (text) => `  ${paint('yellow', '~')} ${toPrintable(text)}\n`,
  )
  return `\n${paint('bold', 'in the cluster')}\n${lines.join('')}`
}

function formatHostsHeading(plans: readonly NodePlan[], paint: Paint): string {
  const roles = [...new Set(plans.map((plan) => plan.roles.join(', ')))].join('; ')
  return `${paint('bold', toPrintable(joinNames(plans.map(({ host }) => host))))} (${roles})`
}

function formatHostChanges(
  plan: NodePlan,
  { ops, fileContents }: Proposal,
  { wide, diff, previousPlans }: ProposalTextOptions,
  paint: Paint,
): string {
  const hostOps = ops.get(plan.host) ?? []
  const opsText = wide ? formatOps(hostOps, paint) : formatOpSummary(hostOps, paint)
  if (!diff) return opsText
  const currentContents = fileContents?.get(plan.host)
  const diffs =
    currentContents === undefined
      ? formatFileDiffs(listPlanContents(previousPlans.get(plan.host)), listPlanContents(plan), paint)
      : formatFileDiffs(currentContents, selectChangedContents(plan, hostOps), paint)
  return `${opsText}${indent(diffs)}`
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

function formatSteps({ steps }: Proposal, { hosts, wide }: ProposalTextOptions, paint: Paint): string {
  const shownSteps = steps.filter(
    (step) => step.kind === 'remove' || step.hosts.some((host) => hosts.has(host)),
  )
  if (shownSteps.length === 0) return ''
  const width = String(shownSteps.length).length
  const lines = shownSteps.map((step, index) => {
    const gates = wide
      ? step.after.map((gate) => `${' '.repeat(width + 3)}until ${describeGate(gate)}\n`)
      : []
    return `${String(index + 1).padStart(width + 1)}. ${toPrintable(describeStep(step) + '\n' + gates.join(''))}`
  })
  return `${paint('bold', 'in this order')}\n${lines.join('')}`
}
