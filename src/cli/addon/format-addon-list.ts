import type { AddonState } from '../../lifecycle/addons/addon-status.ts'
import type { Paint } from '../command.ts'
import { type Cell, type Column, tableText } from '../table.ts'

const words: Readonly<Record<AddonState['state'], Cell>> = {
  ready: { text: 'ready', colour: 'green' },
  unready: { text: 'not ready', colour: 'red' },
  changes: { text: 'to be changed', colour: 'yellow' },
  absent: { text: 'not there yet', colour: 'yellow' },
  leaving: { text: 'to be removed', colour: 'yellow' },
  off: { text: 'off', colour: 'dim' },
}

const columns: readonly Column<AddonState>[] = [
  { head: 'NAME', cell: ({ name }) => ({ text: name }) },
  { head: 'STATE', cell: ({ state }) => words[state] },
  { head: 'VERSION', cell: ({ version }) => ({ text: version ?? '-' }) },
  { head: 'WHAT IT IS', cell: ({ about }) => ({ text: about }) },
]

/** A row for each, then what keeps those that are not ready. */
export function addonListText(states: readonly AddonState[], paint: Paint): string {
  const reasons = states.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: ${reason}\n`]))
  const table = tableText(columns, states, paint)
  return reasons.length === 0 ? table : `${table}\n${reasons.join('')}`
}
