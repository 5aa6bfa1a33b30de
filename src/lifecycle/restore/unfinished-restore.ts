import type { EtcdRestore, EtcdRestoreId } from '../../contract/etcd-restore.ts'
import type { Finding } from '../../contract/finding.ts'
import { list } from '../../rollout/format-names.ts'

/** By name of host. */
export type Restores = ReadonlyMap<string, EtcdRestore>

/** Members with data of different restores must not start together, so nothing is done before it has ended. */
export function unfinishedRestore(restores: Restores): Finding[] {
  if (restores.size === 0) return []
  const having = [...restores].filter(([, { state }]) => state === 'placed').map(([host]) => host)
  const others = [...restores.keys()].filter((host) => !having.includes(host))
  const told = [
    ...(having.length === 0
      ? []
      : [`${list(having)} ${having.length === 1 ? 'has its' : 'have their'} data`]),
    ...(others.length === 0 ? [] : [`${list(others)} ${others.length === 1 ? 'has' : 'have'} begun`]),
  ]
  return [
    {
      code: 'ETCD_RESTORE_UNFINISHED',
      severity: 'error',
      message: `a restore of etcd was begun and has not ended: ${told.join(', ')}`,
      hint: 'the same command again goes on with it: hyperkube etcd snapshot restore NAME',
    },
  ]
}

/**
 * The restore to go on with: one of the same database for the same members, and no other beside it. Nothing where there is
 * none, and then every member is given its data anew.
 */
export function restoreToGoOnWith(
  restores: Restores,
  { snapshot, members }: Omit<EtcdRestoreId, 'id'>,
): EtcdRestoreId | undefined {
  const [first, ...others] = restores.values()
  if (first === undefined || others.some(({ id }) => id !== first.id)) return undefined
  const isSame = first.snapshot === snapshot && first.members.join() === members.join()
  return isSame ? { id: first.id, snapshot, members } : undefined
}

/** Hosts that have the data of this very restore. */
export function placedIn(restores: Restores, id: string): ReadonlySet<string> {
  const placed = [...restores].filter(([, restore]) => restore.id === id && restore.state === 'placed')
  return new Set(placed.map(([host]) => host))
}
