import type { EtcdRestoreProgress, EtcdRestoreId } from '../../contract/etcd-restore.ts'
import type { Finding } from '../../contract/finding.ts'
import { formatNames } from '../../rollout/format-names.ts'

/** Progress of the restore on each host, by host name. */
export type RestoreProgressByHost = ReadonlyMap<string, EtcdRestoreProgress>

/**
 * Reports an unfinished restore. Until it ends every other change is refused, because members with data of
 * different restores must not start together.
 */
export function checkUnfinishedRestore(restores: RestoreProgressByHost): Finding[] {
  if (restores.size === 0) return []
  const withData = [...restores].filter(([, { state }]) => state === 'data-restored').map(([host]) => host)
  const others = [...restores.keys()].filter((host) => !withData.includes(host))
  const parts = [
    ...(withData.length === 0
      ? []
      : [`${formatNames(withData)} ${withData.length === 1 ? 'has its' : 'have their'} data`]),
    ...(others.length === 0
      ? []
      : [`${formatNames(others)} ${others.length === 1 ? 'has' : 'have'} started`]),
  ]
  return [
    {
      code: 'ETCD_RESTORE_UNFINISHED',
      severity: 'error',
      message: `an etcd restore was started and is not finished: ${parts.join(', ')}`,
      hint: 'the same command resumes it: hyperkube etcd snapshot restore NAME',
    },
  ]
}

/**
 * Finds the restore to resume. It must have the same snapshot and members, and no host may have another
 * restore. Undefined means that every member receives its data again.
 */
export function findRestoreToResume(
  restores: RestoreProgressByHost,
  { snapshot, members }: Omit<EtcdRestoreId, 'id'>,
): EtcdRestoreId | undefined {
  const [first, ...others] = restores.values()
  if (first === undefined || others.some(({ id }) => id !== first.id)) return undefined
  const isSame = first.snapshot === snapshot && first.members.join() === members.join()
  return isSame ? { id: first.id, snapshot, members } : undefined
}

/** Lists hosts that have received the data of this restore. */
export function listHostsWithData(restores: RestoreProgressByHost, id: string): ReadonlySet<string> {
  const withData = [...restores].filter(
    ([, restore]) => restore.id === id && restore.state === 'data-restored',
  )
  return new Set(withData.map(([host]) => host))
}
