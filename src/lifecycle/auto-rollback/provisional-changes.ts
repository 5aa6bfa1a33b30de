import type { Finding } from '../../contract/finding.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import { formatNames } from '../../rollout/format-names.ts'

/** Provisional change of each host, by host name. */
export type ProvisionalChangesByHost = ReadonlyMap<string, HostProvisionalChange>
type InState<S extends HostProvisionalChange['state']> = Extract<HostProvisionalChange, { state: S }>
export type ActiveProvisionalChanges = ReadonlyMap<string, InState<'provisional'>>

export function selectActiveProvisional(changes: ProvisionalChangesByHost): ActiveProvisionalChanges {
  return new Map(
    [...changes].flatMap(([host, change]) => (change.state === 'provisional' ? [[host, change]] : [])),
  )
}

export function selectRolledBack(
  changes: ProvisionalChangesByHost,
): ReadonlyMap<string, InState<'rolled-back'>> {
  return new Map(
    [...changes].flatMap(([host, change]) => (change.state === 'rolled-back' ? [[host, change]] : [])),
  )
}

/** Formats the earliest deadline: the time when the first host begins to roll back. */
export function formatFirstDeadline(changes: ActiveProvisionalChanges): string {
  return formatTimestamp([...changes.values()].map(({ deadline }) => deadline).toSorted()[0] ?? '')
}

/** Formats a timestamp without fractions of a second. */
export function formatTimestamp(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

/**
 * Reports active provisional changes. Commands that only read use severity `warning`. Commands that change
 * hosts use `error`, because the hosts may roll back at any moment.
 */
export function checkActiveProvisional(
  changes: ProvisionalChangesByHost,
  severity: Finding['severity'],
): Finding[] {
  const active = selectActiveProvisional(changes)
  if (active.size === 0) return []
  const hosts = [...active.keys()]
  return [
    {
      code: 'PROVISIONAL_PENDING',
      severity,
      message: `${formatNames(hosts)} ${hosts.length === 1 ? 'has' : 'have'} a provisional change until ${formatFirstDeadline(active)}, and then ${hosts.length === 1 ? 'rolls' : 'roll'} back`,
      hint: 'hyperkube provisional confirm keeps it, hyperkube provisional rollback rolls back now; the same hyperkube up --provisional resumes it',
    },
  ]
}
