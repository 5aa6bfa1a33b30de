import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import { count } from '../format-text.ts'
import type { RunState } from './run-state.ts'

/** How it all ended, and how to go on; nothing when there is nothing to say. */
export function closing(state: RunState): readonly string[] {
  const { ended, steps, sectionBegun, begun } = state
  const counting = steps.filter(({ counts }) => counts)
  const command = printable(counting.length > 0 ? goesOnWith(state.command) : state.command)
  const last = Math.max(0, ...steps.map((step) => step.ended ?? 0))
  const since = counting.length > 0 ? sectionBegun : begun
  const took = duration(Math.max(0, (ended?.time ?? last) - (since ?? 0)))
  switch (ended?.outcome) {
    case 'failed':
      return [
        `failed after ${took}, ${changesText(state)}`,
        `  → once that is mended: hyperkube ${command}${state.changes === 0 ? '' : ', which goes on from here'}`,
      ]
    case 'interrupted':
      return [
        `interrupted after ${took}, ${changesText(state)}`,
        `  → hyperkube ${command} goes on from here`,
      ]
    default:
      return counting.length === 0
        ? []
        : [`${count(counting.length, 'step')} in ${took}, ${changesText(state)}`]
  }
}

/** What changes cluster.yml has written its wish there before it began, and `up` brings a cluster to that. */
function goesOnWith(command: string): string {
  return /^(upgrade|node (add|remove|replace))\b/.test(command) ? 'up' : command
}

function changesText({ changes, changedHosts, steps }: RunState): string {
  if (changes > 0) return `${count(changes, 'change')} on ${count(changedHosts.size, 'host')}`
  // What needs no host is done in the cluster itself; to reach hosts and to look changes nothing.
  const done = steps.filter(({ id }) => id !== 'reach' && id !== 'look')
  const isInside = done.length > 0 && done.every(({ hosts }) => hosts.length === 0)
  return isInside ? 'no host was changed' : 'nothing was changed'
}
