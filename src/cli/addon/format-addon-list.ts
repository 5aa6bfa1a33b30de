import type { AddonStatus } from '../../lifecycle/addons/addon-status.ts'
import type { Paint } from '../command.ts'
import { type TableCell, type TableColumn, formatTable } from '../table.ts'

const stateCells: Readonly<Record<AddonStatus['state'], TableCell>> = {
  ready: { text: 'ready', colour: 'green' },
  unready: { text: 'not ready', colour: 'red' },
  changes: { text: 'to be changed', colour: 'yellow' },
  absent: { text: 'not there yet', colour: 'yellow' },
  undesired: { text: 'to be removed', colour: 'yellow' },
  off: { text: 'off', colour: 'dim' },
}

const columns: readonly TableColumn<AddonStatus>[] = [
  { head: 'NAME', cell: ({ name }) => ({ text: name }) },
  { head: 'STATE', cell: ({ state }) => stateCells[state] },
  { head: 'VERSION', cell: ({ version }) => ({ text: version ?? '-' }) },
  { head: 'WHAT IT IS', cell: ({ about }) => ({ text: about }) },
]

/** Formats a table of addons, followed by the reasons why addons are not ready. */
export function formatAddonList(states: readonly AddonStatus[], paint: Paint): string {
  const reasons = states.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: ${reason}\n`]))
  const table = formatTable(columns, states, paint)
  return reasons.length === 0 ? table : `${table}\n${reasons.join('')}`
}
