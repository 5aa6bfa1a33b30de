import { formatDuration } from '../../kit/time-format.ts'
import { toPrintable } from '../../kit/text.ts'
import {
  isReportedHealthy,
  type ReportedStatus,
  type ReportedHost,
} from '../../lifecycle/status/reported-status.ts'
import type { Paint } from '../command/command.ts'
import { type TableCell, type TableColumn, formatTable } from '../command/table.ts'
import { formatHealth, nodeCell, type StatusFormatOptions } from './text.ts'

/**
 * Maximum age of the leader's last lease renewal. After that the summary counts as outdated, because a leader
 * renews its lease every few seconds.
 */
const maxSummaryAgeMs = 60_000

/** Formats a line for the cluster, a row for each host, and the problems, each with its age. */
export function formatReportedStatus(
  reported: ReportedStatus,
  options: StatusFormatOptions,
  paint: Paint,
): string {
  const { hosts } = reported
  const table = formatTable(selectColumns(options), hosts, paint)
  const lines = [...hosts.flatMap(listProblems), ...listNotices(reported)]
  const footer = lines.length === 0 ? '' : `\n${lines.map((line) => `${toPrintable(line)}\n`).join('')}`
  return `${formatHeading(reported, options.now, paint)}\n${table}${footer}`
}

function formatHeading({ summary, leaderRenewedAt }: ReportedStatus, now: Date, paint: Paint): string {
  const source = 'reported by the cluster through the API; hosts were not checked\n'
  const age = leaderRenewedAt === undefined ? undefined : now.getTime() - Date.parse(leaderRenewedAt)
  const isOld = age === undefined || age > maxSummaryAgeMs
  if (summary === undefined) {
    return `${source}${paint('yellow', 'no controller manager has reported a summary')}\n`
  }
  const { state, since, nodes, hosts, etcd } = summary
  const colours = { healthy: 'green', degraded: 'yellow', unhealthy: 'red' } as const
  const parts = [
    `${nodes.ready} of ${nodes.all} nodes ready`,
    `${hosts.reporting} of ${hosts.all} agents reporting`,
    `${etcd.ready} of ${etcd.members} etcd members healthy`,
  ]
  const ageText =
    age === undefined
      ? 'this summary is outdated: no controller manager is leader'
      : `this summary is outdated: no controller manager has updated it for ${formatDuration(age)}`
  return [
    source,
    `${paint(colours[state], state)} since ${since.slice(0, 19)}Z: ${parts.join(', ')}\n`,
    ...(isOld
      ? [`${paint('red', ageText)}; on control planes: journalctl -u hyperkube-controller-manager -n 50\n`]
      : []),
  ].join('')
}

function selectColumns({ wide, now }: StatusFormatOptions): readonly TableColumn<ReportedHost>[] {
  const defaultColumns: readonly TableColumn<ReportedHost>[] = [
    { head: 'HOST', cell: ({ host }) => ({ text: host }) },
    { head: 'HEARTBEAT', cell: (host) => heartbeatCell(host, now) },
    { head: 'COMPONENTS', cell: componentsCell },
    { head: 'ETCD', cell: etcdCell },
    { head: 'NODE', cell: ({ node }) => nodeCell(node) },
  ]
  return wide
    ? [
        ...defaultColumns,
        { head: 'KUBELET', cell: ({ node }) => ({ text: node?.version ?? '-' }) },
        { head: 'HYPERKUBE', cell: ({ status }) => ({ text: status.agent ?? '-' }) },
      ]
    : defaultColumns
}

function heartbeatCell({ heartbeatExpired, status: { heartbeat } }: ReportedHost, now: Date): TableCell {
  if (heartbeat === undefined) return { text: 'never', colour: 'red' }
  const age = Math.max(0, now.getTime() - Date.parse(heartbeat))
  return { text: `${formatDuration(age)} ago`, colour: heartbeatExpired ? 'red' : 'green' }
}

function componentsCell({ heartbeatExpired, status: { components } }: ReportedHost): TableCell {
  if (components === undefined) return { text: '?', colour: 'dim' }
  const healthy = components.filter(({ state }) => state === 'healthy').length
  const text = `${healthy}/${components.length}`
  // Expired reports are dimmed, because their values may be outdated.
  if (heartbeatExpired) return { text, colour: 'dim' }
  return { text, colour: healthy === components.length ? 'green' : 'red' }
}

function etcdCell({ heartbeatExpired, status: { etcd } }: ReportedHost): TableCell {
  if (etcd === undefined) return { text: '-', colour: 'dim' }
  const text = etcd.ready ? (etcd.leader === etcd.id ? 'leader' : 'healthy') : 'unhealthy'
  return { text, colour: heartbeatExpired ? 'dim' : etcd.ready ? 'green' : 'red' }
}

function listProblems(reportedHost: ReportedHost): string[] {
  if (isReportedHealthy(reportedHost)) return []
  const { host, heartbeatExpired, node, status } = reportedHost
  const { heartbeat, components = [], failing = [], etcd } = status
  const unhealthyComponents = new Set(
    components.flatMap(({ component, state }) => (state === 'healthy' ? [] : [component])),
  )
  const since = heartbeat === undefined ? '' : ` since ${heartbeat.slice(0, 19)}Z`
  return [
    ...(heartbeatExpired
      ? [`${host}: no heartbeat from the agent${since}; to check the host over ssh: hyperkube doctor`]
      : []),
    ...components
      .filter(({ state }) => state !== 'healthy')
      .map(({ component, state, because }) => `${host}: ${component}: ${formatHealth(state, because)}`),
    ...failing
      .filter(({ component }) => !unhealthyComponents.has(component))
      .map(({ component, probe, message }) => `${host}: ${component}: ${probe}: ${message ?? 'failed'}`),
    ...(etcd?.ready === false ? [`${host}: etcd: the member is not ready`] : []),
    ...(etcd?.alarms ?? []).map(({ alarm }) => `${host}: etcd: alarm ${alarm}`),
    ...(node?.healthy === false ? [`${host}: node: ${node.reason}`] : []),
  ]
}

/** Lists lines that are shown even if there is no problem. */
function listNotices({ summary, hosts }: ReportedStatus): string[] {
  const { certificates, snapshot } = summary ?? {}
  return [
    ...hosts.flatMap(({ host, status: { suspended } }) =>
      suspended === undefined ? [] : [`${host}: ${suspended}`],
    ),
    ...(certificates === undefined
      ? []
      : [`certificates: the first to expire is on ${certificates.host}, on ${certificates.earliestExpiry}`]),
    ...(snapshot === undefined ? [] : [`snapshots: the newest is ${snapshot.name} on ${snapshot.host}`]),
  ]
}
