import { formatCount, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Paint } from '../command/command.ts'
import { findResumeCommand } from '../command/typed-command.ts'
import { formatFailures } from './failure-text.ts'
import { type AlignedRow, alignRows, paintLine } from './line.ts'
import { countSteps, isFleetRun, type RunState } from './run-state.ts'
import { buildStepRow } from './step-row.ts'
import type { StepState } from './step-state.ts'
import { truncateRowsAfter } from './truncate-rows.ts'

const maxPending = 5

/** Formats the permanent text after a group of steps has ended: each step with its duration. */
export function formatStepsSummary(state: RunState, columns: number, paint: Paint): string {
  const { steps, ended } = state
  const stepCount = countSteps(state)
  const toRow = (step: StepState): AlignedRow =>
    buildStepRow(step, stepCount, ended?.time ?? step.endedAt ?? 0)
  const startedCount = steps.findLastIndex(({ status }) => status !== 'pending') + 1
  const pendingRows = truncateRowsAfter(steps.slice(startedCount), maxPending, toRow)
  return alignRows([...steps.slice(0, startedCount).map(toRow), ...pendingRows], columns)
    .map((line) => `${paintLine(line, paint)}\n`)
    .join('')
}

/** Formats the permanent text at the end of a run: failures and the result. */
export function formatEndSummary(state: RunState, paint: Paint): string {
  const [ended, ...next] = formatClosing(state)
  const lines = ended === undefined ? [] : [paint('bold', ended), ...next]
  return `${formatFailures(state, paint)}${lines.map((line) => `${line}\n`).join('')}`
}

/** Describes how the run ended and how to continue; empty if there is nothing to report. */
function formatClosing(state: RunState): readonly string[] {
  const { ended, steps, sectionStartedAt, startedAt } = state
  const countedSteps = steps.filter(({ isCounted }) => isCounted)
  const command = toPrintable(countedSteps.length > 0 ? findResumeCommand(state.command) : state.command)
  const last = Math.max(0, ...steps.map((step) => step.endedAt ?? 0))
  const since = countedSteps.length > 0 ? sectionStartedAt : startedAt
  const elapsed = formatDuration(Math.max(0, (ended?.time ?? last) - (since ?? 0)))
  switch (ended?.outcome) {
    case 'failed':
      return [
        `failed after ${elapsed}, ${formatChanges(state)}`,
        `  → fix the errors above, then ${state.changes === 0 ? 'run' : 'resume'}: hyperkube ${command}`,
      ]
    case 'interrupted':
      return [`interrupted after ${elapsed}, ${formatChanges(state)}`, `  → to resume: hyperkube ${command}`]
    default:
      return countedSteps.length === 0
        ? []
        : [`${formatCount(countedSteps.length, 'step')} in ${elapsed}, ${formatChanges(state)}`]
  }
}

function formatChanges(state: RunState): string {
  const { changes, changedHosts, steps } = state
  const noun = isFleetRun(state) ? 'cluster' : 'host'
  if (changes > 0) return `${formatCount(changes, 'change')} on ${formatCount(changedHosts.size, noun)}`
  // Steps without hosts may have changed cluster objects or etcd members. The steps `reach` and `observe`
  // never change anything.
  const hasClusterStep = steps.some(
    ({ id, hosts, status }) =>
      id !== 'reach' && id !== 'observe' && hosts.length === 0 && status !== 'pending',
  )
  return hasClusterStep ? 'no host was changed' : 'nothing was changed'
}
