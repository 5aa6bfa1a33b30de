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
  const restarts = restartCosts.length === 0 ? 'restarts nothing' : `restarts ${restartCosts.join('; ')}`
  return toPrintable(
    `provisional until ${formatDuration(durationMs)} after the last step: unless confirmed, hosts roll back one after the other (${order}), which ${restarts}\n`,
  )
}

/** Describes what happens to the applied part of a change after an interrupted or failed run. */
export function formatUnfinished({ durationMs }: PlannedProvisionalChange, startedAt: Date): string {
  const until = formatTimestamp(new Date(startedAt.getTime() + durationMs).toISOString())
  return `the applied part is provisional: hosts roll back by themselves from ${until} on; the same command resumes it, hyperkube provisional rollback rolls back now\n`
}

export function formatProvisionalEnd({ state, until }: ProvisionalEnd): string {
  switch (state) {
    case 'confirmed':
      return 'the change is confirmed\n'
    case 'rolling-back':
      return 'hosts roll back by themselves now, one after the other; hyperkube status shows their progress\n'
    default:
      return `provisional until ${until}: hyperkube provisional confirm keeps it; otherwise hosts roll back by themselves, one after the other\n`
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
