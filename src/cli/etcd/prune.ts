import type { SnapshotStore } from '../../snapshot/store.ts'
import { superfluous } from '../../snapshot/retention.ts'
import { exitCodes } from '../command.ts'
import { print } from '../print.ts'
import { tableText } from '../table.ts'
import { agreed } from '../up/confirm.ts'
import { count } from '../format-text.ts'
import { columns, listed, type Listed } from './list.ts'
import type { EtcdAction } from './action.ts'
import { storesOf } from './stores.ts'

/** Removes the oldest snapshots of each place, but for so many. */
export const prune: EtcdAction = async (scene) => {
  const { context, options, flags, cluster } = scene
  const { stdout, stderr, paint, paintProgress, signal } = context
  const keep = flags.keep ?? cluster.spec.etcd.backup.keep
  if (keep === undefined) {
    stderr.write('USAGE: how many shall stay? hyperkube etcd snapshot prune --keep 7\n')
    stderr.write('  → spec.etcd.backup.keep in cluster.yml says it once and for all\n')
    return exitCodes.usage
  }
  const doomed: { readonly store: SnapshotStore; readonly item: Listed }[] = []
  for (const store of (await storesOf(scene, flags.from)).all) {
    const { name } = cluster.metadata
    const going = superfluous(await store.list(signal), name, keep)
    doomed.push(...going.map((one) => ({ store, item: listed(one, store, name) })))
  }
  const items = doomed.map(({ item }) => item)
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'EtcdSnapshotsRemoved', items }
  if (items.length === 0) {
    print(stdout, options.output, document, () => 'nothing to remove\n')
    return exitCodes.ok
  }
  stderr.write(tableText(columns, items, paintProgress))
  const answer = await agreed(context, options, true)
  if (answer !== true) return answer
  for (const { store, item } of doomed) await store.remove(item.name, signal)
  print(
    stdout,
    options.output,
    document,
    () => `${paint('green', 'removed')} ${count(items.length, 'snapshot')}\n`,
  )
  return exitCodes.ok
}
