import { dirname } from 'node:path'
import type { Notice, RestoreSummary } from '../../actions/phases/notice.ts'
import { etcdDataDirectory } from '../../contract/etcd-restore.ts'
import type { KeyCount } from '../../etcd/member.ts'
import { formatCount, joinNames, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { findController, formatPodName, type SortedPods } from '../../lifecycle/drain/pod.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Paint } from '../command/command.ts'
import { formatOpSummary } from './op-summary.ts'
import { formatProposal } from './proposal-text.ts'
import { formatProvisionalPlan, formatUnfinished } from './provisional-text.ts'

/** Formats a notice of an action for people. */
export function formatNotice(notice: Notice, paint: Paint): string {
  switch (notice.type) {
    case 'proposal':
      return formatProposalNotice(notice, paint)
    case 'provisional-unfinished':
      return formatUnfinished(notice.provisional, notice.startedAt)
    case 'no-provisional-change':
      return 'there is no provisional change\n'
    case 'already-rolled-back':
      return `${joinNames(notice.hosts)} rolled back before that; hyperkube up applies the change again\n`
    case 'reset':
      return formatReset(notice.cluster, notice.hosts, notice.isWholeCluster)
    case 'removal-ops':
      return `${notice.host}\n${formatOpSummary(notice.ops, paint)}`
    case 'restore':
      return formatRestore(notice)
    case 'rejoin':
      return formatRejoin(notice.host)
    default:
      return formatPodMoves(notice.node, notice.pods)
  }
}

function formatProposalNotice(
  { cluster, proposal, provisional }: Extract<Notice, { type: 'proposal' }>,
  paint: Paint,
): string {
  const hosts = new Set(proposal.plans.map(({ host }) => host))
  const options = { wide: false, diff: false, hosts, previousPlans: new Map() }
  const provisionalText = provisional === undefined ? '' : formatProvisionalPlan(provisional)
  return `${formatProposal(cluster, proposal, options, paint)}${provisionalText}`
}

function formatReset({ metadata }: Cluster, hosts: readonly string[], isWholeCluster: boolean): string {
  const changes = isWholeCluster
    ? `the cluster ${metadata.name} ends, with all that runs in it and all that its etcd holds`
    : `${joinNames(hosts)}: all pods on it end`
  return `${changes}; everything that hyperkube has put on ${joinNames(hosts)} is removed.\nData of pods in directories of a host stays there.\n`
}

function formatRejoin(host: string): string {
  return [
    `${host} rejoins etcd:`,
    '  the other members remove it and continue without it',
    '  what is left of its data is moved aside, and kept on the host',
    '  it copies all data from the others and votes when it has caught up (as with hyperkube up)',
    '',
  ].join('\n')
}

/** Describes what happens to the pods of a node, for the operator who must confirm it. */
function formatPodMoves(node: string, { moving, unmanaged, staying }: SortedPods): string {
  const podsToEvict = [...moving, ...unmanaged]
  const head = podsToEvict.length === 0 ? 'there are none to move' : 'these are moved away'
  const lines = podsToEvict.map((pod) => {
    const owner = findController(pod)
    return `  ${formatPodName(pod)} ${owner === undefined ? '(gone for good)' : `(${owner.kind} ${owner.name})`}\n`
  })
  const stayingText =
    staying.length === 0
      ? ''
      : `${formatCount(staying.length, 'pod')} of the node itself, or ended already: left alone\n`
  return toPrintable(`${node} takes no new pods, and ${head}\n${lines.join('')}${stayingText}`)
}

/** Describes the effect of a restore for the operator who must confirm it. */
export function formatRestore({ name, manifest, now, current, members, hosts }: RestoreSummary): string {
  const { cluster, created, revision, keys } = manifest
  const age = formatDuration(now.getTime() - Date.parse(created))
  return [
    `${cluster.name} becomes again what it was ${age} ago: ${name}, taken ${created}, ${formatCount(keys, 'key')}, revision ${revision}`,
    `  lost: ${formatLostChanges(revision, current)}`,
    `  stops for a while: kubelets, controllers, API servers and etcd on ${joinNames(hosts)}; pods go on running`,
    `  pods that are younger than the snapshot end, and those that were deleted since come again`,
    `  etcd’s data of now stays on ${joinNames(members)} in ${dirname(etcdDataDirectory)}/before-restore-TIME`,
    '',
  ].join('\n')
}

function formatLostChanges(revision: number, current: KeyCount | undefined): string {
  if (current === undefined) return 'all that was written since; no member of etcd answers to say how much'
  const changes = Math.max(0, current.revision - revision)
  return changes === 0
    ? `nothing: etcd is at revision ${current.revision}`
    : `${formatCount(changes, 'change')}, all that was written since: etcd is at revision ${current.revision} with ${formatCount(current.keys, 'key')}`
}
