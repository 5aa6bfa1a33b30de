import { printable } from '../../kit/printable.ts'
import type { Well } from '../../lifecycle/observe/observe-cluster.ts'
import { type HostStatus, isWell } from '../../lifecycle/status/observed-host-status.ts'
import type { Paint } from '../command.ts'
import { trialLines } from '../provisional/status-text.ts'
import { type Cell, type Column, tableText } from '../table.ts'

const columns: readonly Column<HostStatus>[] = [
  { head: 'HOST', cell: ({ host }) => ({ text: host }) },
  {
    head: 'ANSWERS',
    cell: ({ away }) =>
      away === undefined ? { text: 'yes', colour: 'green' } : { text: 'no', colour: 'red' },
  },
  { head: 'SERVICES', cell: servicesCell },
  { head: 'ETCD', cell: ({ etcd }) => wellCell(etcd, 'well', 'unwell') },
  { head: 'API', cell: ({ api }) => wellCell(api, 'ready', 'not ready') },
  { head: 'NODE', cell: ({ node }) => wellCell(node, 'ready', 'not ready') },
]

const wideColumns: readonly Column<HostStatus>[] = [
  { head: 'KUBELET', cell: ({ node }) => ({ text: node?.version ?? '-' }) },
  { head: 'HYPERKUBE', cell: ({ version }) => ({ text: version ?? '-' }) },
]

export interface StatusOptions {
  readonly wide: boolean
  readonly now: Date
}

/** A row for each host, then what is wrong, each in a line with its reason, and what is on trial. */
export function statusText(
  statuses: readonly HostStatus[],
  { wide, now }: StatusOptions,
  paint: Paint,
): string {
  const shown = wide ? [...columns, ...wideColumns] : columns
  const table = tableText(shown, statuses, paint)
  const trials = new Map(statuses.flatMap(({ host, trial }) => (trial === undefined ? [] : [[host, trial]])))
  const lines = [...statuses.flatMap(troublesOf), ...trialLines(trials, now)]
  return lines.length === 0 ? table : `${table}\n${lines.map((text) => `${printable(text)}\n`).join('')}`
}

function servicesCell({ services, away }: HostStatus): Cell {
  if (away !== undefined) return { text: '?', colour: 'dim' }
  const active = services.filter(({ state }) => state === 'active').length
  return { text: `${active}/${services.length}`, colour: active === services.length ? 'green' : 'red' }
}

export function wellCell(part: Well | undefined, yes: string, no: string): Cell {
  if (part === undefined) return { text: '-', colour: 'dim' }
  return part.well ? { text: yes, colour: 'green' } : { text: no, colour: 'red' }
}

function troublesOf(status: HostStatus): string[] {
  if (isWell(status)) return []
  const { host, os, away, services, etcd, api, node, silent, unwell = [] } = status
  const seeLog = (name: string): string =>
    os === 'windows' ? `hyperkube logs ${name} --limit ${host}` : `on the host: journalctl -u ${name} -n 50`
  const stopped = new Set(services.flatMap(({ name, state }) => (state === 'active' ? [] : [name])))
  const parts: readonly (readonly [string, Well | undefined])[] = [
    ['etcd', etcd],
    ['API', api],
    ['node', node],
  ]
  return [
    ...(away === undefined ? [] : [`${host}: ${away}`]),
    ...services
      .filter(({ state }) => state !== 'active')
      .map(({ name, state }) => `${host}: ${name} is ${state}; ${seeLog(name)}`),
    ...(silent === undefined ? [] : [`${host}: its agent does not answer: ${silent}`]),
    ...unwell
      .filter(({ component }) => !stopped.has(component))
      .map(({ component, state, because }) => `${host}: ${component}: ${healthText(state, because)}`),
    ...parts.flatMap(([name, part]) => (part?.well === false ? [`${host}: ${name}: ${part.reason}`] : [])),
  ]
}

export function healthText(state: string, because: string | undefined): string {
  const words = { unwell: 'not well', healing: 'being healed', held: 'not well', 'given-up': 'given up' }
  const word = Object.entries(words).find(([name]) => name === state)?.[1] ?? state
  return because === undefined ? word : `${word}: ${because}`
}
