import { streamDatabase } from '../../../snapshot/database.ts'
import type { RequestHandlers } from '../request-handlers.ts'
import { unsupportedError } from './handler-errors.ts'
import type { LocalEtcdMember } from '../local-etcd.ts'
import type { VerifySnapshotFile } from './verify-snapshot.ts'
import type { LocalSnapshots } from '../local-snapshots.ts'

export interface TakeSnapshotDeps {
  readonly member: () => Promise<LocalEtcdMember | undefined>
  readonly snapshots: LocalSnapshots
  readonly verify: VerifySnapshotFile
}

/**
 * Takes a snapshot without a run: it may take minutes and disturbs nothing, so neither healing nor an
 * operator has to wait. Revision and key count are read just before the download, so the snapshot must not be
 * older.
 */
export function createTakeSnapshotHandler({
  member,
  snapshots,
  verify,
}: TakeSnapshotDeps): RequestHandlers['take-snapshot'] {
  return async ({ name, remove }, signal) => {
    const local = await member()
    if (local === undefined)
      throw unsupportedError('no member of etcd runs on this host', 'hyperkube etcd status')
    const { client, endpoint } = local
    const lines: string[] = []
    if ((await snapshots.list()).some((one) => one.name === name)) lines.push(`${name} was there already`)
    else {
      await snapshots.requireSpace((await client.status(endpoint, { signal })).size)
      const known = await client.countKeys(endpoint, { signal })
      const bytes = streamDatabase(client.database(endpoint, { signal }), () => undefined)
      await snapshots.save(name, bytes, async (file) => {
        const { revision, keys } = await verify(local, file, known, signal)
        lines.push(`${snapshots.directory}/${name} has ${keys} keys as of revision ${revision}`)
      })
    }
    // Older snapshots are removed last, because they are needed until the new one is verified.
    const removed = await snapshots.remove(remove.filter((one) => one !== name))
    return [...lines, ...removed.map((one) => `removed ${one}`)]
  }
}
