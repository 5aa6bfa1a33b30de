import { formatDuration } from '../../kit/duration.ts'
import { toPrintable } from '../../kit/printable.ts'
import { formatCount } from '../format-text.ts'
import type { RunState } from './run-state.ts'

/** How the run ended and how to continue; empty if there is nothing to report. */
export function formatClosing(state: RunState): readonly string[] {
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
        `  → once that is fixed: hyperkube ${command}${state.changes === 0 ? '' : ', which goes on from here'}`,
      ]
    case 'interrupted':
      return [
        `interrupted after ${elapsed}, ${formatChanges(state)}`,
        `  → hyperkube ${command} goes on from here`,
      ]
    default:
      return countedSteps.length === 0
        ? []
        : [`${formatCount(countedSteps.length, 'step')} in ${elapsed}, ${formatChanges(state)}`]
  }
}

/** These commands write the desired state to cluster.yml first, so `up` continues them. */
function findResumeCommand(command: string): string {
  return /^(upgrade|node (add|remove|replace))\b/.test(command) ? 'up' : command
}

function formatChanges({ changes, changedHosts, steps }: RunState): string {
  if (changes > 0) return `${formatCount(changes, 'change')} on ${formatCount(changedHosts.size, 'host')}`
  // Steps without hosts change cluster objects only. Connecting and observing change nothing.
  const changingSteps = steps.filter(({ id }) => id !== 'reach' && id !== 'observe')
  const isClusterOnly = changingSteps.length > 0 && changingSteps.every(({ hosts }) => hosts.length === 0)
  return isClusterOnly ? 'no host was changed' : 'nothing was changed'
}
