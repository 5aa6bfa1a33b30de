import {
  endOf,
  instant,
  onTrial,
  type Trials,
  wentBack,
} from '../../lifecycle/auto-rollback/provisional-changes.ts'
import { listed } from '../format-text.ts'

/** One line for what is on trial, and one for each time that hosts went back. */
export function trialLines(trials: Trials, now: Date): string[] {
  return [...underWay(trials, now), ...over(trials)]
}

function underWay(trials: Trials, now: Date): string[] {
  const on = onTrial(trials)
  if (on.size === 0) return []
  const hosts = listed([...on.keys()])
  const ends = [...on.values()].map(({ deadline }) => Date.parse(deadline))
  return Math.min(...ends) > now.getTime()
    ? [
        `on trial until ${endOf(on)}: ${hosts}; hyperkube trial keep keeps it, hyperkube trial back goes back now`,
      ]
    : [
        `still on trial, which ended at ${endOf(on)}: ${hosts}; they go back one after the other; why one does not: journalctl -u hyperkube-agent on the host`,
      ]
}

function over(trials: Trials): string[] {
  return [...Map.groupBy(wentBack(trials), ([, { deadline }]) => instant(deadline))].map(
    ([deadline, hosts]) => {
      const each = hosts.map(([host, { at }]) => `${host} at ${instant(at)}`)
      return `went back, because the trial ended at ${deadline} and was not kept: ${listed(each)}; hyperkube plan shows what is to be done`
    },
  )
}
