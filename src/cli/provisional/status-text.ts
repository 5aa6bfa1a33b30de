import {
  formatFirstDeadline,
  formatTimestamp,
  selectActiveProvisional,
  type ProvisionalChangesByHost,
  selectRolledBack,
} from '../../lifecycle/auto-rollback/provisional-changes.ts'
import { joinNames } from '../format-text.ts'

/** Formats one line for the pending change and one for each earlier rollback. */
export function formatProvisionalLines(changes: ProvisionalChangesByHost, now: Date): string[] {
  return [...formatPending(changes, now), ...formatRolledBack(changes)]
}

function formatPending(changes: ProvisionalChangesByHost, now: Date): string[] {
  const pending = selectActiveProvisional(changes)
  if (pending.size === 0) return []
  const hosts = joinNames([...pending.keys()])
  const deadlines = [...pending.values()].map(({ deadline }) => Date.parse(deadline))
  return Math.min(...deadlines) > now.getTime()
    ? [
        `provisional until ${formatFirstDeadline(pending)}: ${hosts}; hyperkube provisional confirm keeps it, hyperkube provisional rollback rolls back now`,
      ]
    : [
        `still provisional after ${formatFirstDeadline(pending)}: ${hosts}; hosts roll back one after the other; why one does not: journalctl -u hyperkube-agent on the host`,
      ]
}

function formatRolledBack(changes: ProvisionalChangesByHost): string[] {
  return [...Map.groupBy(selectRolledBack(changes), ([, { deadline }]) => formatTimestamp(deadline))].map(
    ([deadline, hosts]) => {
      const hostTimes = hosts.map(([host, { at }]) => `${host} at ${formatTimestamp(at)}`)
      return `rolled back, because the provisional change was not confirmed until ${deadline}: ${joinNames(hostTimes)}; hyperkube plan shows the changes`
    },
  )
}
