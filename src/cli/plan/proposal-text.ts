import type { NodePlan } from '../../contract/node-plan.ts'
import { printable } from '../../kit/printable.ts'
import { describeGate, describeStep } from '../../rollout/describe.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Paint } from '../command.ts'
import { addonsText } from './addons-text.ts'
import { changedTexts, fileDiffs, textsOf } from './file-diffs.ts'
import { describeChanges } from '../../lifecycle/cluster-objects/changes.ts'
import type { Proposal } from '../../lifecycle/build-proposal.ts'
import { opLines, summary } from './op-summary.ts'
import { alike, count, listed } from '../format-text.ts'

export interface TextOptions {
  /** Every op instead of how many there are. */
  readonly wide: boolean
  /** What changes inside files. */
  readonly diff: boolean
  /** Hosts to speak of. */
  readonly hosts: ReadonlySet<string>
  readonly former: ReadonlyMap<string, NodePlan>
}

/** A proposal as a person wants to read it: what happens where, and then in which order. */
export function proposalText(
  { metadata, spec }: Cluster,
  proposal: Proposal,
  options: TextOptions,
  paint: Paint,
): string {
  const plans = proposal.plans.filter(({ host }) => options.hosts.has(host))
  const heading = `${paint('bold', metadata.name)}: Kubernetes ${spec.kubernetes} on ${count(spec.hosts.length, 'host')}\n`
  const changed = plans.filter(({ host }) => (proposal.ops.get(host) ?? []).length > 0)
  const addons = addonsText(proposal.addons, options, paint)
  const { leavers, inside } = proposal
  if (changed.length + leavers.length + inside.length === 0 && addons === '')
    return `${heading}nothing to do\n`
  const hosts = alike(changed, (plan) => hostText(plan, proposal, options, paint)).map(
    ([text, alikes]) => `\n${hostsHeading(alikes, paint)}\n${text}`,
  )
  return `${heading}${hosts.join('')}${leaversText(proposal, paint)}${insideText(proposal, paint)}${addons}\n${stepsText(proposal, options, paint)}`
}

/** Who is part of the cluster and not of the file. */
function leaversText({ leavers }: Proposal, paint: Paint): string {
  return leavers
    .map(({ host }) => {
      const name = paint('bold', printable(host))
      return `\n${name} (not in cluster.yml any more)\n  ${paint('red', '-')} leaves the cluster, with everything of ours on it\n`
    })
    .join('')
}

/** What changes in the cluster itself. */
function insideText({ inside }: Proposal, paint: Paint): string {
  if (inside.length === 0) return ''
  const lines = describeChanges(inside).map((text) => `  ${paint('yellow', '~')} ${printable(text)}\n`)
  return `\n${paint('bold', 'in the cluster')}\n${lines.join('')}`
}

function hostsHeading(plans: readonly NodePlan[], paint: Paint): string {
  const roles = [...new Set(plans.map((plan) => plan.roles.join(', ')))].join('; ')
  return `${paint('bold', printable(listed(plans.map(({ host }) => host))))} (${roles})`
}

function hostText(
  plan: NodePlan,
  { ops, texts }: Proposal,
  { wide, diff, former }: TextOptions,
  paint: Paint,
): string {
  const own = ops.get(plan.host) ?? []
  const what = wide ? opLines(own, paint) : summary(own, paint)
  if (!diff) return what
  const there = texts?.get(plan.host)
  const diffs =
    there === undefined
      ? fileDiffs(textsOf(former.get(plan.host)), textsOf(plan), paint)
      : fileDiffs(there, changedTexts(plan, own), paint)
  return `${what}${indented(diffs)}`
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

function stepsText({ steps }: Proposal, { hosts, wide }: TextOptions, paint: Paint): string {
  const mine = steps.filter((step) => step.what === 'leave' || step.hosts.some((host) => hosts.has(host)))
  if (mine.length === 0) return ''
  const width = String(mine.length).length
  const lines = mine.map((step, index) => {
    const waits = wide
      ? step.after.map((gate) => `${' '.repeat(width + 3)}until ${describeGate(gate)}\n`)
      : []
    return `${String(index + 1).padStart(width + 1)}. ${printable(describeStep(step) + '\n' + waits.join(''))}`
  })
  return `${paint('bold', 'in this order')}\n${lines.join('')}`
}
