import { toPrintable } from '../../kit/text.ts'
import type { HealthResult } from '../../lifecycle/observe/observe-cluster.ts'
import type { NodeStatus } from '../../lifecycle/status/node-status.ts'
import { type HostStatusReport, isHostHealthy } from '../../lifecycle/status/status-report.ts'
import type { Paint } from '../command/command.ts'
import { formatTable, type TableCell, type TableColumn } from '../command/table.ts'
import { formatProvisionalLines } from '../text/provisional-text.ts'

const columns: readonly TableColumn<HostStatusReport>[] = [
  { head: 'HOST', cell: ({ host }) => ({ text: host }) },
  {
    head: 'REACHABLE',
    cell: ({ unreachable }) =>
      unreachable === undefined ? { text: 'yes', colour: 'green' } : { text: 'no', colour: 'red' },
  },
  { head: 'SERVICES', cell: servicesCell },
  { head: 'ETCD', cell: ({ etcd }) => healthCell(etcd, 'healthy', 'unhealthy') },
  { head: 'API', cell: ({ api }) => healthCell(api, 'ready', 'not ready') },
  { head: 'NODE', cell: ({ node }) => nodeCell(node) },
]

const wideColumns: readonly TableColumn<HostStatusReport>[] = [
  { head: 'KUBELET', cell: ({ node }) => ({ text: node?.version ?? '-' }) },
  { head: 'HYPERKUBE', cell: ({ version }) => ({ text: version ?? '-' }) },
]

export interface StatusFormatOptions {
  readonly wide: boolean
  readonly now: Date
}

/**
 * Formats a row for each host, then a line for each problem with its reason, then the provisional changes.
 */
export function formatHostStatuses(
  statuses: readonly HostStatusReport[],
  { wide, now }: StatusFormatOptions,
  paint: Paint,
): string {
  const shownColumns = wide ? [...columns, ...wideColumns] : columns
  const table = formatTable(shownColumns, statuses, paint)
  const provisionalChanges = new Map(
    statuses.flatMap(({ host, provisional }) => (provisional === undefined ? [] : [[host, provisional]])),
  )
  const lines = [...statuses.flatMap(listHostProblems), ...formatProvisionalLines(provisionalChanges, now)]
  return lines.length === 0 ? table : `${table}\n${lines.map((text) => `${toPrintable(text)}\n`).join('')}`
}

function servicesCell({ services, unreachable }: HostStatusReport): TableCell {
  if (unreachable !== undefined) return { text: '?', colour: 'dim' }
  const active = services.filter(({ state }) => state === 'active').length
  return { text: `${active}/${services.length}`, colour: active === services.length ? 'green' : 'red' }
}

function healthCell(part: HealthResult | undefined, yes: string, no: string): TableCell {
  if (part === undefined) return { text: '-', colour: 'dim' }
  if (part.healthy) return { text: yes, colour: 'green' }
  return part.unknown === true ? { text: '?', colour: 'dim' } : { text: no, colour: 'red' }
}

/** Formats whether a node is ready, its problems and its cordon, for example `ready, disk pressure`. */
export function nodeCell(node: NodeStatus | undefined): TableCell {
  const { conditions = [], cordoned: isCordoned = false, ready } = node ?? {}
  const cell = healthCell(node, 'ready', ready === true ? 'ready' : 'not ready')
  const parts = [cell.text, ...conditions, ...(isCordoned ? ['cordoned'] : [])]
  return {
    ...cell,
    text: parts.join(', '),
    ...(isCordoned && cell.colour === 'green' ? { colour: 'yellow' } : {}),
  }
}

/** Lists the problems of a host, each with its reason. */
export function listHostProblems(status: HostStatusReport): string[] {
  if (isHostHealthy(status)) return []
  const { host, os, unreachable, services, etcd, api, node, agentError, unhealthy = [] } = status
  const formatLogCommand = (name: string): string =>
    os === 'windows' ? `hyperkube logs ${name} --limit ${host}` : `on the host: journalctl -u ${name} -n 50`
  const stopped = new Set(services.flatMap(({ name, state }) => (state === 'active' ? [] : [name])))
  const parts: readonly (readonly [string, HealthResult | undefined])[] = [
    ['etcd', etcd],
    ['API', api],
    ['node', node],
  ]
  return [
    ...(unreachable === undefined ? [] : [`${host}: ${unreachable}`]),
    ...services
      .filter(({ state }) => state !== 'active')
      .map(({ name, state }) => `${host}: ${name} is ${state}; ${formatLogCommand(name)}`),
    ...(agentError === undefined ? [] : [`${host}: the agent does not answer: ${agentError}`]),
    ...unhealthy
      .filter(({ component }) => !stopped.has(component))
      .map(({ component, state, because }) => `${host}: ${component}: ${formatHealth(state, because)}`),
    ...parts.flatMap(([name, part]) =>
      part === undefined || part.healthy || (unreachable !== undefined && part.unknown === true)
        ? []
        : [`${host}: ${name}: ${part.reason}`],
    ),
  ]
}

export function formatHealth(state: string, because: string | undefined): string {
  return because === undefined ? state : `${state}: ${because}`
}
