import { formatDuration } from '../../kit/duration.ts'
import { toPrintable } from '../../kit/printable.ts'
import type { PlannedProvisionalChange } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import { formatTimestamp } from '../../lifecycle/auto-rollback/provisional-changes.ts'
import { groupByText, joinNames } from '../format-text.ts'

/** State of a provisional change when the command ends. */
export interface ProvisionalEnd {
  readonly state: 'provisional' | 'confirmed' | 'rolling-back'
  /** Time at which the first host rolls back, unless the change is confirmed. */
  readonly until: string
}

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
  const until = formatRollbackTime(new Date(startedAt.getTime() + durationMs))
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

export function formatRollbackTime(time: Date): string {
  return formatTimestamp(time.toISOString())
}
