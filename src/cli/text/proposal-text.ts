import { structuredPatch } from 'diff'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { formatCount, groupByText, joinNames, toPrintable } from '../../kit/text.ts'
import { describeObjectChanges } from '../../lifecycle/cluster-objects/changes.ts'
import type { Proposal } from '../../lifecycle/proposal/proposal.ts'
import { describeGate, describeStep } from '../../rollout/describe.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Paint } from '../command/command.ts'
import { formatAddonChanges } from './addons-text.ts'
import { formatHoldCommands, formatKubernetesVersion } from './held-upgrade-text.ts'
import { formatOps, formatOpSummary } from './op-summary.ts'

export interface ProposalTextOptions {
  /** True to show every op instead of counts. */
  readonly wide: boolean
  /** True to show changes inside files. */
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
  const heading = `${paint('bold', metadata.name)}: ${formatKubernetesVersion(spec)} on ${formatCount(spec.hosts.length, 'host')}\n${formatHoldCommands(spec)}`
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
      return `\n${name} (no longer in cluster.yml)\n  ${paint('red', '-')} removed from the cluster; everything that hyperkube installed on it is deleted\n`
    })
    .join('')
}

function formatClusterChanges({ clusterChanges }: Proposal, paint: Paint): string {
  if (clusterChanges.length === 0) return ''
  const lines = describeObjectChanges(clusterChanges).map(
    (text) => `  ${paint('yellow', '~')} ${toPrintable(text)}\n`,
  )
  return `\n${paint('bold', 'Kubernetes objects')}\n${lines.join('')}`
}

function formatHostsHeading(plans: readonly NodePlan[], paint: Paint): string {
  const roles = [...new Set(plans.map((plan) => plan.roles.join(', ')))].join('; ')
  return `${paint('bold', toPrintable(joinNames(plans.map(({ host }) => host))))} (${roles})`
}

function formatHostChanges(
  plan: NodePlan,
  proposal: Proposal,
  options: ProposalTextOptions,
  paint: Paint,
): string {
  const hostOps = proposal.ops.get(plan.host) ?? []
  const opsText = options.wide ? formatOps(hostOps, paint) : formatOpSummary(hostOps, paint)
  return options.diff ? `${opsText}${indent(formatHostFileDiffs(plan, proposal, options, paint))}` : opsText
}

/** Formats the changes inside files and units of a host as line diffs. */
export function formatHostFileDiffs(
  plan: NodePlan,
  { ops, fileContents }: Proposal,
  { previousPlans }: ProposalTextOptions,
  paint: Paint,
): string {
  const currentContents = fileContents?.get(plan.host)
  return currentContents === undefined
    ? formatFileDiffs(listPlanContents(previousPlans.get(plan.host)), listPlanContents(plan), paint)
    : formatFileDiffs(currentContents, selectChangedContents(plan, ops.get(plan.host) ?? []), paint)
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

/** Text of files and units, by path or unit name. */
type FileContents = ReadonlyMap<string, string>

/**
 * Formats changes of files and units line by line. The values of secrets are not shown, only that a secret
 * changes.
 */
function formatFileDiffs(before: FileContents, after: FileContents, paint: Paint): string {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return paths.map((path) => formatFileDiff(path, before.get(path), after.get(path), paint)).join('')
}

/** Selects the contents of files and units that the ops would create or change on a host. */
function selectChangedContents(plan: NodePlan, ops: readonly Op[]): FileContents {
  const changedNames = new Set(
    ops.filter(({ action }) => action === 'create' || action === 'change').map(({ name }) => name),
  )
  return new Map([...listPlanContents(plan)].filter(([name]) => changedNames.has(name)))
}

/**
 * Lists the contents of a plan's files and units. A secret is represented by its name and tag, never by its
 * value.
 */
function listPlanContents(plan: NodePlan | undefined): FileContents {
  const components = plan?.components ?? []
  return new Map(
    components.flatMap(({ files, derivedFiles, service }) => [
      ...files.map(({ path, content }) => {
        const text = content.kind === 'text' ? content.text : `secret ${content.secret}, tag ${content.tag}\n`
        return [path, text] as const
      }),
      ...derivedFiles.map(({ path, template }) => [path, template] as const),
      ...(service === undefined
        ? []
        : [[service.name, service.supervisor === 'systemd' ? service.unit : formatJson(service)] as const]),
    ]),
  )
}

function formatJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function formatFileDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
  paint: Paint,
): string {
  if (before === after) return ''
  const { hunks } = structuredPatch(path, path, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  })
  const heading = before === undefined ? 'new' : after === undefined ? 'removed' : 'changed'
  const lines = hunks.flatMap((hunk) => [
    ...(heading === 'changed' ? [paint('cyan', `@@ -${hunk.oldStart} +${hunk.newStart} @@`)] : []),
    ...hunk.lines.map((line) => paintDiffLine(toPrintable(line), paint)),
  ])
  return `${paint('bold', toPrintable(path))} (${heading})\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function paintDiffLine(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line)
  return line.startsWith('-') ? paint('red', line) : line
}
