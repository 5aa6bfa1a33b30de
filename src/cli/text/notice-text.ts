import { dirname } from 'node:path'
import type { Notice, RestoreSummary } from '../../actions/phases/notice.ts'
import { etcdDataDirectory } from '../../contract/etcd-restore.ts'
import type { KeyCount } from '../../etcd/member.ts'
import { describePublicKey, listKeysCommand } from '../../kit/ssh-public-key.ts'
import { formatCount, joinNames, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { findController, formatPodName, type SortedPods } from '../../lifecycle/drain/pod.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { UnknownHostKey } from '../../ssh/host-key-errors.ts'
import type { Paint } from '../command/command.ts'
import { formatTable } from '../command/table.ts'
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
      return `already rolled back: ${joinNames(notice.hosts)}; to apply the change again: hyperkube up\n`
    case 'reset':
      return formatReset(notice.cluster, notice.hosts, notice.isWholeCluster)
    case 'removal-ops':
      return `${notice.host}\n${formatOpSummary(notice.ops, paint)}`
    case 'restore':
      return formatRestore(notice)
    case 'host-keys':
      return formatUnknownHostKeys(notice.unknown)
    case 'rejoin':
      return formatRejoin(notice.host)
    case 'eject':
      return formatEject(notice, paint)
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

/** Says what becomes of each component, and what the written directory contains. */
function formatEject({ components, directory }: Extract<Notice, { type: 'eject' }>, paint: Paint): string {
  const table = formatTable(
    [
      { head: 'COMPONENT', cell: ({ component }) => ({ text: component }) },
      { head: 'WHAT HAPPENS', cell: ({ fate }) => ({ text: fate }) },
      { head: 'NOTE', cell: ({ note }) => ({ text: note }) },
    ],
    components,
    paint,
  )
  return `${table}no host is changed; ${toPrintable(directory)} will contain the keys of the CAs, unencrypted\n`
}

function formatReset({ metadata }: Cluster, hosts: readonly string[], isWholeCluster: boolean): string {
  const changes = isWholeCluster
    ? `the cluster ${metadata.name} is deleted, with all its pods and all its etcd data`
    : `all pods on ${joinNames(hosts)} stop`
  return `${changes}; everything that hyperkube installed on ${joinNames(hosts)} is removed.\nPod data in host directories is kept.\n`
}

/** Lists unknown ssh host keys for the operator who must compare them. */
function formatUnknownHostKeys(unknown: readonly UnknownHostKey[]): string {
  const lines = unknown.map(
    ({ name, address, port, key }) =>
      `  ${name} (${address}${port === 22 ? '' : ` port ${port}`}): ${describePublicKey(key)}\n`,
  )
  return toPrintable(
    `these ssh host keys are unknown:\n${lines.join('')}to compare them, on the console of each host: ${listKeysCommand}\n`,
  )
}

function formatRejoin(host: string): string {
  return [
    `${host} rejoins etcd:`,
    `  the other etcd members remove ${host}`,
    `  the etcd data on ${host} is moved to another directory and kept`,
    `  ${host} joins as a learner, copies all data and then becomes a voting member`,
    '',
  ].join('\n')
}

/** Describes what happens to the pods of a node, for the operator who must confirm it. */
function formatPodMoves(node: string, { moving, unmanaged, staying }: SortedPods): string {
  const podsToEvict = [...moving, ...unmanaged]
  const head = podsToEvict.length === 0 ? 'there are no pods to evict' : 'these pods are evicted:'
  const lines = podsToEvict.map((pod) => {
    const owner = findController(pod)
    return `  ${formatPodName(pod)} ${owner === undefined ? '(no controller: not created again)' : `(${owner.kind} ${owner.name})`}\n`
  })
  const stayingText =
    staying.length === 0
      ? ''
      : `${formatCount(staying.length, 'pod')} not evicted: DaemonSet, static or ended\n`
  return toPrintable(`${node} is cordoned; ${head}\n${lines.join('')}${stayingText}`)
}

/** Describes the effect of a restore for the operator who must confirm it. */
export function formatRestore({ name, manifest, now, current, members, hosts }: RestoreSummary): string {
  const { cluster, created, revision, keys } = manifest
  const age = formatDuration(now.getTime() - Date.parse(created))
  return [
    `${cluster.name} is restored to its state ${age} ago: snapshot ${name}, taken ${created}, ${formatCount(keys, 'key')}, revision ${revision}`,
    `  lost: ${formatLostChanges(revision, current)}`,
    `  stopped during the restore: kubelets, controllers, API servers and etcd on ${joinNames(hosts)}; pods keep running`,
    '  pods created after the snapshot are deleted; pods deleted after the snapshot are created again',
    `  the current etcd data is kept on ${joinNames(members)} in ${dirname(etcdDataDirectory)}/before-restore-TIME`,
    '',
  ].join('\n')
}

function formatLostChanges(revision: number, current: KeyCount | undefined): string {
  if (current === undefined)
    return 'all changes since the snapshot; their number is unknown, because no etcd member answers'
  const changes = Math.max(0, current.revision - revision)
  return changes === 0
    ? `nothing: etcd is at revision ${current.revision}`
    : `${formatCount(changes, 'change')} since the snapshot: etcd is at revision ${current.revision} with ${formatCount(current.keys, 'key')}`
}
