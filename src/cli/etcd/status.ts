import { clusterHealth } from '../../etcd/cluster-health.ts'
import { type Observation, titleOf } from '../../etcd/member.ts'
import { observe } from '../../etcd/observe.ts'
import { exitCodes } from '../command.ts'
import { findingsText, print } from '../print.ts'
import { type Column, tableText } from '../table.ts'
import { openEtcd } from './open-etcd.ts'
import { megabytes } from './progress.ts'
import type { EtcdAction } from './action.ts'

/** Its members: who leads, how large their databases are, what is wrong. */
export const status: EtcdAction = async ({ context, options, cluster, identity }) => {
  await using etcd = await openEtcd(context, options.file, cluster, await identity())
  const observed = await observe(etcd.client, { signal: context.signal })
  const findings = clusterHealth(observed)
  const members = rowsOf(observed)
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
  print(context.stdout, options.output, document, () =>
    tableText(options.output === 'wide' ? [...columns, ...wide] : columns, members, context.paint),
  )
  context.stderr.write(findingsText(findings))
  return findings.length === 0 ? exitCodes.ok : exitCodes.failure
}

type Row = ReturnType<typeof rowsOf>[number]

function rowsOf({ members, statuses, health }: Observation) {
  return members.map((member) => {
    const own = statuses.get(member.id)
    return {
      name: titleOf(member),
      id: member.id,
      role: member.learner ? 'learner' : own?.leader === member.id ? 'leader' : 'follower',
      ready: health.get(member.id)?.ready === true,
      reason: health.get(member.id)?.reason,
      version: own?.version,
      size: own?.size,
      sizeInUse: own?.sizeInUse,
      quota: own?.quota,
      raftIndex: own?.raftAppliedIndex,
    }
  })
}

const columns: readonly Column<Row>[] = [
  { head: 'MEMBER', cell: ({ name }) => ({ text: name }) },
  {
    head: 'STATE',
    cell: ({ ready, reason }) =>
      ready ? { text: 'ready', colour: 'green' } : { text: reason ?? 'away', colour: 'red' },
  },
  { head: 'ROLE', cell: ({ role }) => ({ text: role }) },
  { head: 'DATABASE', cell: ({ size }) => ({ text: inMegabytes(size) }) },
  { head: 'IN USE', cell: ({ sizeInUse }) => ({ text: inMegabytes(sizeInUse) }) },
  { head: 'VERSION', cell: ({ version = '' }) => ({ text: version }) },
]

const wide: readonly Column<Row>[] = [
  { head: 'ID', cell: ({ id }) => ({ text: id }) },
  { head: 'QUOTA', cell: ({ quota }) => ({ text: inMegabytes(quota) }) },
  {
    head: 'RAFT INDEX',
    cell: ({ raftIndex }) => ({ text: raftIndex === undefined ? '' : String(raftIndex) }),
  },
]

function inMegabytes(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${megabytes(bytes)} MB`
}
