import type { ProvisionalEnd } from '../../actions/phases/settle-provisional.ts'
import { groupByText, joinNames, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import {
  formatFirstDeadline,
  formatTimestamp,
  type PlannedProvisionalChange,
  type ProvisionalChangesByHost,
  selectActiveProvisional,
  selectRolledBack,
} from '../../lifecycle/provisional/plan-provisional.ts'

/** Describes how long a change is provisional, and which services a rollback restarts. */
export function formatProvisionalPlan({
  durationMs,
  rollbackGroups,
  rollbackOps,
}: PlannedProvisionalChange): string {
  const order = joinNames(rollbackGroups.map((group) => group.join('+')))
  const restartCosts = groupByText([...rollbackOps], ([, ops]) =>
    joinNames(
      ops
        .filter(({ action }) => action === 'restart' || action === 'stop')
        .map(({ name }) => name.replace(/\.service$/, '')),
    ),
  )
    .filter(([services]) => services !== '')
    .map(([services, hosts]) => `${services} on ${joinNames(hosts.map(([host]) => host))}`)
  const restarts = restartCosts.length === 0 ? 'restarts no service' : `restarts ${restartCosts.join('; ')}`
  return toPrintable(
    `provisional for ${formatDuration(durationMs)} after the last step; unless confirmed, hosts roll back one after the other: ${order}\nthe rollback ${restarts}\n`,
  )
}

/** Describes what happens to the applied part of a change after an interrupted or failed run. */
export function formatUnfinished({ durationMs }: PlannedProvisionalChange, startedAt: Date): string {
  const until = formatTimestamp(new Date(startedAt.getTime() + durationMs).toISOString())
  return `the applied part is provisional: hosts start to roll back at ${until}\n  → to resume: run the same command; to roll back now: hyperkube provisional rollback\n`
}

export function formatProvisionalEnd({ state, until }: ProvisionalEnd): string {
  switch (state) {
    case 'confirmed':
      return 'the change is confirmed\n'
    case 'rolling-back':
      return 'hosts now roll back one after the other; to follow the rollback: hyperkube status\n'
    default:
      return `provisional until ${until}, then hosts roll back one after the other; to keep the change: hyperkube provisional confirm\n`
  }
}

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
        `provisional until ${formatFirstDeadline(pending)}: ${hosts}; to keep the change: hyperkube provisional confirm; to roll back now: hyperkube provisional rollback`,
      ]
    : [
        `still provisional after ${formatFirstDeadline(pending)}: ${hosts}; hosts roll back one after the other; if a host does not, on that host: journalctl -u hyperkube-agent -n 50`,
      ]
}

function formatRolledBack(changes: ProvisionalChangesByHost): string[] {
  return [...Map.groupBy(selectRolledBack(changes), ([, { deadline }]) => formatTimestamp(deadline))].map(
    ([deadline, hosts]) => {
      const hostTimes = hosts.map(([host, { at }]) => `${host} at ${formatTimestamp(at)}`)
      return `rolled back, because the provisional change was not confirmed by ${deadline}: ${joinNames(hostTimes)}; to see the changes: hyperkube plan`
    },
  )
}
