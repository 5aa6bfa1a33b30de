import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import { isReportedWell, type Reported, type ReportedHost } from '../../lifecycle/status/reported-status.ts'
import type { Paint } from '../command.ts'
import { type Cell, type Column, tableText } from '../table.ts'
import { healthText, type StatusOptions, wellCell } from './text.ts'

/** In milliseconds: whoever keeps the summary gives a sign of life every few seconds. */
const keptWithin = 60_000

/** A line for the whole, a row for each host, and what is wrong; each with how old it is. */
export function reportedText(reported: Reported, options: StatusOptions, paint: Paint): string {
  const { hosts } = reported
  const table = tableText(columnsOf(options), hosts, paint)
  const lines = [...hosts.flatMap(troublesOf), ...restOf(reported)]
  const below = lines.length === 0 ? '' : `\n${lines.map((line) => `${printable(line)}\n`).join('')}`
  return `${heading(reported, options.now, paint)}\n${table}${below}`
}

function heading({ summary, kept }: Reported, now: Date, paint: Paint): string {
  const source = 'what the cluster says of itself; nobody has looked at its hosts\n'
  const age = kept === undefined ? undefined : now.getTime() - Date.parse(kept)
  const isOld = age === undefined || age > keptWithin
  if (summary === undefined) {
    return `${source}${paint('yellow', 'no controller manager has said how it is as a whole')}\n`
  }
  const { state, since, nodes, hosts, etcd } = summary
  const colours = { well: 'green', degraded: 'yellow', failing: 'red' } as const
  const parts = [
    `${nodes.ready} of ${nodes.all} nodes ready`,
    `${hosts.heard} of ${hosts.all} agents heard`,
    `${etcd.ready} of ${etcd.members} members of etcd well`,
  ]
  const old =
    age === undefined
      ? 'nobody keeps this up to date'
      : `nobody has kept this up to date for ${duration(age)}`
  return [
    source,
    `${paint(colours[state], state)} since ${since.slice(0, 19)}Z: ${parts.join(', ')}\n`,
    ...(isOld
      ? [`${paint('red', old)}; on control planes: journalctl -u hyperkube-controller-manager -n 50\n`]
      : []),
  ].join('')
}

function columnsOf({ wide, now }: StatusOptions): readonly Column<ReportedHost>[] {
  const usual: readonly Column<ReportedHost>[] = [
    { head: 'HOST', cell: ({ host }) => ({ text: host }) },
    { head: 'HEARD', cell: (host) => heardCell(host, now) },
    { head: 'COMPONENTS', cell: componentsCell },
    { head: 'ETCD', cell: etcdCell },
    { head: 'NODE', cell: ({ node }) => wellCell(node, 'ready', 'not ready') },
  ]
  return wide
    ? [
        ...usual,
        { head: 'KUBELET', cell: ({ node }) => ({ text: node?.version ?? '-' }) },
        { head: 'HYPERKUBE', cell: ({ status }) => ({ text: status.agent ?? '-' }) },
      ]
    : usual
}

function heardCell({ silent, status: { heartbeat } }: ReportedHost, now: Date): Cell {
  if (heartbeat === undefined) return { text: 'never', colour: 'red' }
  const age = Math.max(0, now.getTime() - Date.parse(heartbeat))
  return { text: `${duration(age)} ago`, colour: silent ? 'red' : 'green' }
}

function componentsCell({ silent, status: { components } }: ReportedHost): Cell {
  if (components === undefined) return { text: '?', colour: 'dim' }
  const well = components.filter(({ state }) => state === 'well').length
  const text = `${well}/${components.length}`
  // What was said long ago is no colour worth.
  if (silent) return { text, colour: 'dim' }
  return { text, colour: well === components.length ? 'green' : 'red' }
}

function etcdCell({ silent, status: { etcd } }: ReportedHost): Cell {
  if (etcd === undefined) return { text: '-', colour: 'dim' }
  const text = etcd.ready ? (etcd.leader === etcd.id ? 'leads' : 'well') : 'unwell'
  return { text, colour: silent ? 'dim' : etcd.ready ? 'green' : 'red' }
}

function troublesOf(one: ReportedHost): string[] {
  if (isReportedWell(one)) return []
  const { host, silent, node, status } = one
  const { heartbeat, components = [], failing = [], etcd } = status
  const known = new Set(components.flatMap(({ component, state }) => (state === 'well' ? [] : [component])))
  const since = heartbeat === undefined ? '' : ` since ${heartbeat.slice(0, 19)}Z`
  return [
    ...(silent
      ? [`${host}: nothing is heard of its agent${since}; hyperkube doctor looks at it by ssh`]
      : []),
    ...components
      .filter(({ state }) => state !== 'well')
      .map(({ component, state, because }) => `${host}: ${component}: ${healthText(state, because)}`),
    ...failing
      .filter(({ component }) => !known.has(component))
      .map(({ component, probe, seen }) => `${host}: ${component}: ${probe}: ${seen ?? 'it fails'}`),
    ...(etcd?.ready === false ? [`${host}: etcd: its member does not serve`] : []),
    ...(etcd?.alarms ?? []).map(({ alarm }) => `${host}: etcd: alarm ${alarm}`),
    ...(node?.well === false ? [`${host}: node: ${node.reason}`] : []),
  ]
}

/** What is worth a line though nothing may be wrong. */
function restOf({ summary, hosts }: Reported): string[] {
  const { certificates, snapshot } = summary ?? {}
  return [
    ...hosts.flatMap(({ host, status: { idle } }) => (idle === undefined ? [] : [`${host}: ${idle}`])),
    ...(certificates === undefined
      ? []
      : [`certificates: the first to expire is on ${certificates.host}, on ${certificates.firstEnds}`]),
    ...(snapshot === undefined ? [] : [`snapshots: the newest is ${snapshot.name} on ${snapshot.host}`]),
  ]
}
