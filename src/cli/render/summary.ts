import type { Paint } from '../command.ts'
import { formatClosing } from './closing.ts'
import { formatFailures } from './failure-text.ts'
import { alignRows, paintLine } from './line.ts'
import { countSteps, type RunState } from './run-state.ts'
import { buildStepRow } from './step-row.ts'
import { truncateRowsAfter } from './truncate-rows.ts'

const maxPending = 5

/** The permanent text after a section: each step with its time. */
export function formatStepsSummary(state: RunState, columns: number, paint: Paint): string {
  const { steps, ended } = state
  const stepCount = countSteps(state)
  const rows = steps.map((step) => buildStepRow(step, stepCount, ended?.time ?? step.endedAt ?? 0))
  const startedCount = steps.findLastIndex(({ status }) => status !== 'pending') + 1
  const pendingRows = truncateRowsAfter(rows.slice(startedCount), maxPending)
  return alignRows([...rows.slice(0, startedCount), ...pendingRows], columns)
    .map((line) => `${paintLine(line, paint)}\n`)
    .join('')
}

/** The permanent text at the end: failures and the result. */
export function formatEndSummary(state: RunState, paint: Paint): string {
  const [ended, ...next] = formatClosing(state)
  const lines = ended === undefined ? [] : [paint('bold', ended), ...next]
  return `${formatFailures(state, paint)}${lines.map((line) => `${line}\n`).join('')}`
}
