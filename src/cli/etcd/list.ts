import { parseSnapshotTime, type SnapshotStore, type StoredSnapshot } from '../../snapshot/store.ts'
import { exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'
import { formatMegabytes } from '../render/byte-progress.ts'
import type { EtcdCommandAction } from './action.ts'
import { openSnapshotStores } from './stores.ts'

/** A snapshot and the store that holds it. */
export interface SnapshotRow {
  readonly name: string
  readonly store: string
  /** Size of the snapshot in bytes. */
  readonly size: number
  readonly taken: string
}

/** Lists all snapshots, newest first. */
export const listSnapshots: EtcdCommandAction = async (invocation) => {
  const { context, options, flags, cluster } = invocation
  const stores = await openSnapshotStores(invocation, flags.from)
  const items: SnapshotRow[] = []
  for (const store of stores.all) {
    const stored = await store.list(context.signal)
    items.push(...stored.map((one) => toSnapshotRow(one, store, cluster.metadata.name)))
  }
  items.sort((a, b) => (a.taken < b.taken ? 1 : -1))
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'EtcdSnapshotList', items }
  printResult(context.stdout, options.output, document, () =>
    items.length === 0
      ? `no snapshots in ${stores.all.map(({ title }) => title).join(' and ')}; save one: hyperkube etcd snapshot save\n`
      : formatTable(snapshotColumns, items, context.paint),
  )
  return exitCodes.ok
}

export function toSnapshotRow(
  { name, size, modified }: StoredSnapshot,
  store: SnapshotStore,
  cluster: string,
): SnapshotRow {
  // A name that a person chose contains no time, so the store's modification time is used.
  return {
    name,
    store: store.title,
    size,
    taken: (parseSnapshotTime(cluster, name) ?? modified).toISOString(),
  }
}

export const snapshotColumns: readonly TableColumn<SnapshotRow>[] = [
  { head: 'NAME', cell: ({ name }) => ({ text: name }) },
  { head: 'TAKEN', cell: ({ taken }) => ({ text: taken.replace(/\.\d+Z$/, 'Z') }) },
  { head: 'SIZE', cell: ({ size }) => ({ text: `${formatMegabytes(size)} MB` }) },
  { head: 'IN', cell: ({ store }) => ({ text: store, colour: 'dim' }) },
]
