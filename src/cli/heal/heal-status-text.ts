import type { HealAction, HostHealth } from '../../contract/health.ts'
import { joinNames, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Paint } from '../command/command.ts'
import { formatTable, type TableCell, type TableColumn } from '../command/table.ts'
import type { HostReply } from './heal-command.ts'

export interface HealStatusFormatOptions {
  /** True to show all actions that agents have stored. */
  readonly wide: boolean
  readonly now: Date
}

type Row = HostReply<HostHealth>

/** Number of actions shown for each host without -o wide. */
const maxActionsPerHost = 5
const dayMs = 86_400_000

const columns: readonly TableColumn<Row>[] = [
  { head: 'HOST', cell: ({ host }) => ({ text: host }) },
  { head: 'HEALING', cell: healingCell },
  { head: 'UNHEALTHY', cell: whenReachable(unhealthyCell) },
  {
    head: 'BUDGET',
    cell: whenReachable(({ budget: { used, max, windowMs } }) => ({
      text: `${used}/${max} in ${formatDuration(windowMs)}`,
      ...(used >= max && { colour: 'red' }),
    })),
  },
  { head: 'POLICY', cell: whenReachable(({ healPolicy }) => ({ text: healPolicy })) },
]

/** Formats a row for each host, then the unreachable hosts and recent actions, newest first. */
export function formatHealStatus(
  rows: readonly Row[],
  { wide, now }: HealStatusFormatOptions,
  paint: Paint,
): string {
  const unreachable = rows.flatMap((row) => ('reason' in row ? [`${row.host}: ${row.reason}`] : []))
  const actionLines = rows
    .flatMap((row) => {
      if ('reason' in row) return []
      const recent = row.response.actions.filter(({ at }) => wide || now.getTime() - Date.parse(at) < dayMs)
      return (wide ? recent : recent.slice(0, maxActionsPerHost)).map((action) => ({
        host: row.host,
        action,
      }))
    })
    .toSorted((a, b) => (a.action.at < b.action.at ? 1 : -1))
    .map(({ host, action }) => formatAction(host, action))
  const parts = [unreachable, actionLines].filter(({ length }) => length > 0)
  const sections = parts.map((lines) => `\n${lines.map((line) => `${toPrintable(line)}\n`).join('')}`)
  return formatTable(columns, rows, paint) + sections.join('')
}

function healingCell(row: Row): TableCell {
  if ('reason' in row) return { text: 'unreachable', colour: 'red' }
  const { paused, suspended, plan } = row.response
  if (paused !== undefined) return { text: `paused until ${paused.until} by ${paused.by}`, colour: 'yellow' }
  if (suspended !== undefined) return { text: `suspended: ${suspended}`, colour: 'yellow' }
  return plan === undefined ? { text: 'no plan yet', colour: 'dim' } : { text: 'on', colour: 'green' }
}

function unhealthyCell({ components }: HostHealth): TableCell {
  const unhealthy = components.filter(({ state }) => state !== 'healthy')
  if (unhealthy.length === 0) return { text: '-', colour: 'dim' }
  const isExhausted = unhealthy.some(({ state }) => state === 'exhausted')
  return {
    text: joinNames(unhealthy.map(({ component, state }) => `${component} (${state})`)),
    colour: isExhausted ? 'red' : 'yellow',
  }
}

function whenReachable(cell: (health: HostHealth) => TableCell): (row: Row) => TableCell {
  return (row) => ('reason' in row ? { text: '?', colour: 'dim' } : cell(row.response))
}

function formatAction(host: string, { at, component, action, outcome, because, code }: HealAction): string {
  const failed = outcome === 'failed' ? ' failed' : ''
  const codeText = code === undefined ? '' : ` (${code})`
  return `${at} ${host} ${component}: ${action}${failed}, because ${because}${codeText}`
}
