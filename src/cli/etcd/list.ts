import { takenAt } from '../../snapshot/name.ts'
import type { SnapshotStore, StoredSnapshot } from '../../snapshot/store.ts'
import { exitCodes } from '../command.ts'
import { print } from '../print.ts'
import { type Column, tableText } from '../table.ts'
import { megabytes } from './progress.ts'
import type { EtcdAction } from './action.ts'
import { storesOf } from './stores.ts'

/** A snapshot, and where it is. */
export interface Listed {
  readonly name: string
  readonly store: string
  /** In bytes. */
  readonly size: number
  readonly taken: string
}

/** All snapshots, the newest first. */
export const list: EtcdAction = async (scene) => {
  const { context, options, flags, cluster } = scene
  const stores = await storesOf(scene, flags.from)
  const items: Listed[] = []
  for (const store of stores.all) {
    const stored = await store.list(context.signal)
    items.push(...stored.map((one) => listed(one, store, cluster.metadata.name)))
  }
  items.sort((a, b) => (a.taken < b.taken ? 1 : -1))
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'EtcdSnapshotList', items }
  print(context.stdout, options.output, document, () =>
    items.length === 0
      ? `there is none yet in ${stores.all.map(({ title }) => title).join(' and ')}: hyperkube etcd snapshot save\n`
      : tableText(columns, items, context.paint),
  )
  return exitCodes.ok
}

export function listed(
  { name, size, modified }: StoredSnapshot,
  store: SnapshotStore,
  cluster: string,
): Listed {
  // Of one that a person has named, only its place knows when it came.
  return { name, store: store.title, size, taken: (takenAt(cluster, name) ?? modified).toISOString() }
}

export const columns: readonly Column<Listed>[] = [
  { head: 'NAME', cell: ({ name }) => ({ text: name }) },
  { head: 'TAKEN', cell: ({ taken }) => ({ text: taken.replace(/\.\d+Z$/, 'Z') }) },
  { head: 'SIZE', cell: ({ size }) => ({ text: `${megabytes(size)} MB` }) },
  { head: 'IN', cell: ({ store }) => ({ text: store, colour: 'dim' }) },
]
