import type { HealAction, HostHealth } from '../../contract/health.ts'
import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'
import { type Cell, type Column, tableText } from '../table.ts'
import { listed } from '../format-text.ts'
import type { Heard } from './heal-command.ts'

export interface StatusTextOptions {
  /** Whether all that agents remember is shown. */
  readonly wide: boolean
  readonly now: Date
}

type Row = Heard<HostHealth>

/** Of each host, unless all are asked for. */
const few = 5
const day = 86_400_000

const columns: readonly Column<Row>[] = [
  { head: 'HOST', cell: ({ host }) => ({ text: host }) },
  { head: 'HEALING', cell: healingCell },
  { head: 'NOT WELL', cell: ofHealth(unwellCell) },
  {
    head: 'SPENT',
    cell: ofHealth(({ budget: { spent, most, within } }) => ({
      text: `${spent}/${most} in ${duration(within)}`,
      ...(spent >= most && { colour: 'red' }),
    })),
  },
  { head: 'LADDER', cell: ofHealth(({ ladder }) => ({ text: ladder })) },
]

/** A row for each host; below, who did not answer and what was done, the newest first. */
export function statusText(rows: readonly Row[], { wide, now }: StatusTextOptions, paint: Paint): string {
  const silent = rows.flatMap((row) => ('reason' in row ? [`${row.host}: ${row.reason}`] : []))
  const done = rows
    .flatMap((row) => {
      if ('reason' in row) return []
      const recent = row.said.actions.filter(({ at }) => wide || now.getTime() - Date.parse(at) < day)
      return (wide ? recent : recent.slice(0, few)).map((action) => ({ host: row.host, action }))
    })
    .toSorted((a, b) => (a.action.at < b.action.at ? 1 : -1))
    .map(({ host, action }) => actionText(host, action))
  const parts = [silent, done].filter(({ length }) => length > 0)
  const below = parts.map((lines) => `\n${lines.map((line) => `${printable(line)}\n`).join('')}`)
  return tableText(columns, rows, paint) + below.join('')
}

function healingCell(row: Row): Cell {
  if ('reason' in row) return { text: 'no answer', colour: 'red' }
  const { paused, idle, plan } = row.said
  if (paused !== undefined) return { text: `paused until ${paused.until} by ${paused.by}`, colour: 'yellow' }
  if (idle !== undefined) return { text: `not now: ${idle}`, colour: 'yellow' }
  return plan === undefined ? { text: 'no plan yet', colour: 'dim' } : { text: 'on', colour: 'green' }
}

function unwellCell({ components }: HostHealth): Cell {
  const unwell = components.filter(({ state }) => state !== 'well')
  if (unwell.length === 0) return { text: '-', colour: 'dim' }
  const isGivenUp = unwell.some(({ state }) => state === 'given-up')
  return {
    text: listed(unwell.map(({ component, state }) => `${component} (${state})`)),
    colour: isGivenUp ? 'red' : 'yellow',
  }
}

function ofHealth(cell: (health: HostHealth) => Cell): (row: Row) => Cell {
  return (row) => ('reason' in row ? { text: '?', colour: 'dim' } : cell(row.said))
}

function actionText(host: string, { at, component, action, outcome, because, code }: HealAction): string {
  const failed = outcome === 'failed' ? ' failed' : ''
  const named = code === undefined ? '' : ` (${code})`
  return `${at} ${host} ${component}: ${action}${failed}, because ${because}${named}`
}
