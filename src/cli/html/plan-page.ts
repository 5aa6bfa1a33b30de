import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { formatCount } from '../../kit/text.ts'
import { describeObjectChanges } from '../../lifecycle/cluster-objects/changes.ts'
import { hasChanges, type Proposal } from '../../lifecycle/proposal/proposal.ts'
import { describeGate, describeStep } from '../../rollout/describe.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { formatAddonChanges } from '../text/addons-text.ts'
import { noPaint } from '../text/no-paint.ts'
import { formatKubernetesVersion } from '../text/held-upgrade-text.ts'
import { targetNouns } from '../text/op-summary.ts'
import { formatHostFileDiffs, type ProposalTextOptions } from '../text/proposal-text.ts'
import { escapeHtml, renderNotice, renderPage } from './page.ts'

/** Renders a proposal as a page for review: what restarts, then the order, then all changes of each host. */
export function renderPlanPage(
  cluster: Cluster,
  proposal: Proposal,
  options: ProposalTextOptions,
  at: Date,
): string {
  const { metadata, spec } = cluster
  const plans = proposal.plans.filter(
    ({ host }) => options.hosts.has(host) && (proposal.ops.get(host) ?? []).length > 0,
  )
  const body = [
    `<h1>Plan of ${escapeHtml(metadata.name)}</h1>`,
    `<p class="dim">${escapeHtml(formatKubernetesVersion(spec))} on ${formatCount(spec.hosts.length, 'host')}; planned ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</p>`,
    ...proposal.findings.map(renderFinding),
    hasChanges(proposal) ? '' : '<p>Nothing to do: all hosts and addons have their desired state.</p>',
    renderHosts(plans, proposal),
    renderSteps(proposal),
    renderClusterChanges(proposal),
    ...plans.map((plan) => renderHostDetails(plan, proposal, options)),
  ]
  return renderPage(`Plan of ${metadata.name}`, body.filter((part) => part !== '').join('\n'))
}

export function renderFinding({ severity, code, host, message, hint }: Finding): string {
  return renderNotice(severity, code, host === undefined ? message : `${host}: ${message}`, hint)
}

function renderHosts(plans: readonly NodePlan[], { ops, hostsToRemove }: Proposal): string {
  if (plans.length + hostsToRemove.length === 0) return ''
  const rows = plans.map((plan) => {
    const hostOps = ops.get(plan.host) ?? []
    return `<tr><td class="name">${escapeHtml(plan.host)}</td><td>${escapeHtml(plan.roles.join(', '))}</td><td>${countOps(hostOps)}</td><td>${listServiceChanges(hostOps)}</td></tr>`
  })
  const removed = hostsToRemove.map(
    ({ host }) =>
      `<tr><td class="name">${escapeHtml(host)}</td><td colspan="3" class="bad">removed from the cluster; everything that hyperkube installed on it is deleted</td></tr>`,
  )
  return `<h2>Hosts</h2>
<div class="scroll"><table>
<tr><th>Host</th><th>Roles</th><th>Changes</th><th>Services</th></tr>
${[...rows, ...removed].join('\n')}
</table></div>`
}

function countOps(ops: readonly Op[]): string {
  const count = (action: Op['action']): number =>
    ops.filter((op) => op.action === action && op.target !== 'service').length
  return [
    ['ok', '+', count('create')] as const,
    ['change', '~', count('change')] as const,
    ['bad', '-', count('remove')] as const,
  ]
    .filter(([, , amount]) => amount > 0)
    .map(([colour, sign, amount]) => `<span class="${colour}">${sign}${amount}</span>`)
    .join(' ')
}

/** Lists restarts first, because they matter most to an operator. */
function listServiceChanges(ops: readonly Op[]): string {
  const verbs = [
    ['restart', 'change'],
    ['stop', 'bad'],
    ['start', 'ok'],
  ] as const
  return verbs
    .flatMap(([action, colour]) => {
      const names = ops.filter((op) => op.action === action).map(({ name }) => name.replace(/\.service$/, ''))
      return names.length === 0
        ? []
        : [`<span class="${colour}">${action}</span> ${escapeHtml(names.join(', '))}`]
    })
    .join('<br>')
}

function renderSteps({ steps }: Proposal): string {
  if (steps.length === 0) return ''
  const items = steps.map((step) => {
    const gates = step.after.map((gate) => `<li>until ${escapeHtml(describeGate(gate))}</li>`)
    const gateList = gates.length === 0 ? '' : `<ul>${gates.join('')}</ul>`
    return `<li>${escapeHtml(describeStep(step))}${gateList}</li>`
  })
  return `<h2>Order</h2>\n<ol>\n${items.join('\n')}\n</ol>`
}

function renderClusterChanges({ clusterChanges, addons }: Proposal): string {
  const objects = describeObjectChanges(clusterChanges).map((text) => `<li>${escapeHtml(text)}</li>`)
  const addonText = formatAddonChanges(addons, { wide: true, diff: true }, noPaint).trim()
  if (objects.length === 0 && addonText === '') return ''
  const list = objects.length === 0 ? '' : `<ul>${objects.join('')}</ul>`
  const pre =
    addonText === '' ? '' : `<details><summary>Addons</summary><pre>${escapeHtml(addonText)}</pre></details>`
  return `<h2>Kubernetes objects</h2>\n${list}${pre}`
}

function renderHostDetails(plan: NodePlan, proposal: Proposal, options: ProposalTextOptions): string {
  const ops = proposal.ops.get(plan.host) ?? []
  const components = [...Map.groupBy(ops, ({ component }) => component)].map(([component, own]) => {
    const rows = own.map(
      ({ action, target, name, because }) =>
        `<tr><td>${escapeHtml(action)}</td><td>${targetNouns[target]}</td><td><code>${escapeHtml(name)}</code></td><td class="dim">${escapeHtml(because.join(', '))}</td></tr>`,
    )
    return `<h3>${escapeHtml(component)}</h3>\n<div class="scroll"><table>\n${rows.join('\n')}\n</table></div>`
  })
  const diffs = options.diff ? formatHostFileDiffs(plan, proposal, options, noPaint).trim() : ''
  const diffText =
    diffs === ''
      ? ''
      : `<details><summary>Changes inside files</summary><pre>${escapeHtml(diffs)}</pre></details>`
  return `<details><summary><strong>${escapeHtml(plan.host)}</strong>: ${formatCount(ops.length, 'change')}</summary>
${components.join('\n')}
${diffText}
</details>`
}
