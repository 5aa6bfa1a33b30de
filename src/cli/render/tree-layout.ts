import { formatCount } from '../../kit/text.ts'
import { buildDetailLines, countDetailLines } from './host-lines.ts'
import { type AlignedRow, alignRows, fitLine, span, type StyledLine } from './line.ts'
import { countSteps, type RunState } from './run-state.ts'
import { buildStepRow, formatElapsed } from './step-row.ts'
import type { StepState } from './step-state.ts'
import { formatStopping } from './stopping-text.ts'
import { truncateRowsAfter, truncateRowsBefore } from './truncate-rows.ts'

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** Maximum number of rows reserved for steps that are not running, independent of the number of hosts. */
const maxOtherSteps = 8

/**
 * Builds the lines of the screen. The lines fit the width of the screen and leave one row free for the cursor
 * below them.
 */
export function layoutTree(state: RunState, now: number, { columns, rows }: ScreenSize): StyledLine[] {
  const footerLines = buildFooter(state, now)
  const availableRows = Math.max(0, rows - 1 - footerLines.length)
  const { from, to } = findPosition(state)
  const steps = countSteps(state)
  const toRow = (step: StepState): AlignedRow => appendHostCount(buildStepRow(step, steps, now), state, step)
  const freeRows = Math.max(0, availableRows - (to - from))
  const others = Math.min(state.steps.length - (to - from), maxOtherSteps)
  const details = Math.min(countDetailLines(state), Math.max(Math.floor(freeRows / 2), freeRows - others))
  const shares = shareRows(from, state.steps.length - to, freeRows - details)
  const before = [
    ...truncateRowsBefore(state.steps.slice(0, from), shares.before, toRow),
    ...state.steps.slice(from, to).map(toRow),
  ]
  const lines = alignRows(
    [...before, ...truncateRowsAfter(state.steps.slice(to), shares.after, toRow)],
    columns,
  )
  const tree = [
    ...lines.slice(0, before.length),
    ...buildDetailLines(state, now, columns, details),
    ...lines.slice(before.length),
  ]
  return [...tree.slice(0, availableRows), ...footerLines.slice(0, Math.max(0, rows - 1))].map((line) =>
    fitLine(line, columns),
  )
}

/**
 * Returns the index range of the running step. Between two steps the range is empty, at the position of the
 * next step.
 */
function findPosition({ steps, running }: RunState): { readonly from: number; readonly to: number } {
  const index = steps.findIndex(({ id }) => id === running)
  if (index !== -1) return { from: index, to: index + 1 }
  const next = steps.findIndex(({ status }) => status === 'pending')
  const from = next === -1 ? steps.length : next
  return { from, to: from }
}

/**
 * Divides rows between the steps before and after the running step. The following steps get at least half of
 * the rows, if there are enough of these steps.
 */
function shareRows(
  before: number,
  after: number,
  lines: number,
): { readonly before: number; readonly after: number } {
  const forAfter = Math.min(after, Math.max(Math.ceil(lines / 2), lines - before))
  return { before: Math.min(before, lines - forAfter), after: forAfter }
}

/** Appends to the running step's row how many of its hosts are done. */
function appendHostCount(row: AlignedRow, { hosts, running }: RunState, step: StepState): AlignedRow {
  if (!step.isCounted || step.id !== running || step.hosts.length < 2 || hosts.size === 0) return row
  const done = [...hosts.values()].filter(({ status }) => status === 'done').length
  return { ...row, after: `  ${done} of ${step.hosts.length} done` }
}

function buildFooter(state: RunState, now: number): StyledLine[] {
  const { steps, sectionStartedAt, stopping } = state
  const countedSteps = steps.filter(({ isCounted }) => isCounted)
  const done = countedSteps.filter(({ status }) => status === 'done').length
  const parts = [
    `${done} of ${formatCount(countedSteps.length, 'step')}`,
    formatCount(state.changes, 'change'),
    formatElapsed(now - (sectionStartedAt ?? now)),
  ]
  const counterLines = countedSteps.length === 0 ? [] : [[span(parts.join(', '), 'dim')]]
  return stopping === undefined
    ? counterLines
    : [...counterLines, ...formatStopping(stopping).map((text): StyledLine => [span(text, 'yellow')])]
}
