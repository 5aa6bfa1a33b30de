import { formatCount } from '../../kit/text.ts'
import { selectExpiredSnapshots, type SnapshotStore } from '../../snapshot/store.ts'
import { exitCodes } from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { printResult } from '../command/print.ts'
import { formatTable } from '../command/table.ts'
import type { EtcdCommandAction } from './action.ts'
import { snapshotColumns, type SnapshotRow, toSnapshotRow } from './list.ts'
import { openSnapshotStores } from './stores.ts'

/** Deletes old snapshots in each store and keeps the given number of the newest snapshots. */
export const pruneSnapshots: EtcdCommandAction = async (invocation) => {
  const { context, options, flags, cluster } = invocation
  const { stdout, stderr, paint, paintProgress, signal } = context
  const keep = flags.keep ?? cluster.spec.etcd.backup.keep
  if (keep === undefined) {
    stderr.write(
      'USAGE: the number of snapshots to keep is missing: hyperkube etcd snapshot prune --keep 7\n',
    )
    stderr.write('  → or set spec.etcd.backup.keep in cluster.yml\n')
    return exitCodes.usage
  }
  const toRemove: { readonly store: SnapshotStore; readonly item: SnapshotRow }[] = []
  for (const store of (await openSnapshotStores(invocation, flags.from)).all) {
    const { name } = cluster.metadata
    const expired = selectExpiredSnapshots(await store.list(signal), name, keep)
    toRemove.push(...expired.map((one) => ({ store, item: toSnapshotRow(one, store, name) })))
  }
  const items = toRemove.map(({ item }) => item)
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'EtcdSnapshotsRemoved', items }
  if (items.length === 0) {
    printResult(stdout, options.output, document, () => 'nothing to remove\n')
    return exitCodes.ok
  }
  stderr.write(formatTable(snapshotColumns, items, paintProgress))
  const confirmed = await confirmChanges(context, options, true)
  if (confirmed !== 'confirmed') return exitCodeByConfirmation[confirmed]
  for (const { store, item } of toRemove) await store.remove(item.name, signal)
  printResult(
    stdout,
    options.output,
    document,
    () => `${paint('green', 'removed')} ${formatCount(items.length, 'snapshot')}\n`,
  )
  return exitCodes.ok
}
