import { checkEtcdHealth } from '../../etcd/cluster-health.ts'
import { type EtcdObservation, formatMember } from '../../etcd/member.ts'
import { observeEtcd } from '../../etcd/observe.ts'
import { openEtcd } from '../../workspace/open-cluster.ts'
import { exitCodes } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'
import { formatMegabytes } from '../render/byte-progress.ts'
import type { EtcdCommandAction } from './action.ts'

/** Shows the members of etcd: leader, database sizes and problems. */
export const showEtcdStatus: EtcdCommandAction = async ({ context, options, cluster, identity }) => {
  await using etcd = await openEtcd(context, options.file, cluster, await identity())
  const observed = await observeEtcd(etcd.client, { signal: context.signal })
  const findings = checkEtcdHealth(observed)
  const members = buildMemberRows(observed)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'EtcdStatus',
    cluster: cluster.metadata.name,
    clusterId: observed.clusterId,
    quorum: observed.confirmed,
    members,
    alarms: observed.alarms,
    findings,
  }
  printResult(context.stdout, options.output, document, () =>
    formatTable(options.output === 'wide' ? [...columns, ...wideColumns] : columns, members, context.paint),
  )
  context.stderr.write(formatFindings(findings))
  return findings.length === 0 ? exitCodes.ok : exitCodes.failure
}

type MemberRow = ReturnType<typeof buildMemberRows>[number]

function buildMemberRows({ members, statuses, health }: EtcdObservation) {
  return members.map((member) => {
    const memberStatus = statuses.get(member.id)
    return {
      name: formatMember(member),
      id: member.id,
      role: member.learner ? 'learner' : memberStatus?.leader === member.id ? 'leader' : 'follower',
      ready: health.get(member.id)?.ready === true,
      reason: health.get(member.id)?.reason,
      version: memberStatus?.version,
      size: memberStatus?.size,
      sizeInUse: memberStatus?.sizeInUse,
      quota: memberStatus?.quota,
      raftIndex: memberStatus?.raftAppliedIndex,
    }
  })
}

const columns: readonly TableColumn<MemberRow>[] = [
  { head: 'MEMBER', cell: ({ name }) => ({ text: name }) },
  {
    head: 'STATE',
    cell: ({ ready, reason }) =>
      ready ? { text: 'ready', colour: 'green' } : { text: reason ?? 'unreachable', colour: 'red' },
  },
  { head: 'ROLE', cell: ({ role }) => ({ text: role }) },
  { head: 'DATABASE', cell: ({ size }) => ({ text: formatSize(size) }) },
  { head: 'IN USE', cell: ({ sizeInUse }) => ({ text: formatSize(sizeInUse) }) },
  { head: 'VERSION', cell: ({ version = '' }) => ({ text: version }) },
]

const wideColumns: readonly TableColumn<MemberRow>[] = [
  { head: 'ID', cell: ({ id }) => ({ text: id }) },
  { head: 'QUOTA', cell: ({ quota }) => ({ text: formatSize(quota) }) },
  {
    head: 'RAFT INDEX',
    cell: ({ raftIndex }) => ({ text: raftIndex === undefined ? '' : String(raftIndex) }),
  },
]

function formatSize(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${formatMegabytes(bytes)} MB`
}
