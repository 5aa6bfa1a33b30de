import type { Paint } from '../command.ts'
import { closing } from './closing.ts'
import { failuresText } from './failure-text.ts'
import { aligned, painted } from './line.ts'
import { countOf, type RunState } from './run-state.ts'
import { stepRow } from './step-row.ts'
import { shortened } from './truncate-rows.ts'

/** Of those that never began, so many are named. */
const mostPending = 5

/** What stays when steps are over: each with its time. */
export function stepsSummary(state: RunState, columns: number, paint: Paint): string {
  const { steps, ended } = state
  const all = countOf(state)
  const rows = steps.map((step) => stepRow(step, all, ended?.time ?? step.ended ?? 0))
  const begun = steps.findLastIndex(({ status }) => status !== 'pending') + 1
  const pending = shortened(rows.slice(begun), mostPending)
  return aligned([...rows.slice(0, begun), ...pending], columns)
    .map((line) => `${painted(line, paint)}\n`)
    .join('')
}

/** And what stays at the very end: what failed, and how it all ended. */
export function endSummary(state: RunState, paint: Paint): string {
  const [ended, ...next] = closing(state)
  const lines = ended === undefined ? [] : [paint('bold', ended), ...next]
  return `${failuresText(state, paint)}${lines.map((line) => `${line}\n`).join('')}`
}
