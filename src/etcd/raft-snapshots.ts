import { z } from 'zod'
import { mapWithConcurrency, settleAll } from '../kit/concurrency.ts'
import type { EtcdClient } from './client.ts'
import { EtcdError, ignoreEtcdError } from './etcd-error.ts'
import { type EtcdCallOptions, maxParallelRequests } from './gateway.ts'
import type { EtcdMember } from './member.ts'

/** Number of entries that are written before the members are checked again. */
const entriesPerBatch = 1000
/** Limit for a wrong setting. By default etcd 3.6 saves a raft snapshot after 10,000 entries. */
const maxEntries = 200_000

/** Deletes a key that does not exist: an entry in the raft log that changes no data. */
const emptyChange = { key: Buffer.from('/hyperkube/does-not-exist').toString('base64') }

/**
 * Makes members save a snapshot of their raft state. Returns the ids of all members that have saved one; the
 * given members are among them.
 *
 * A member that starts replays the raft log since its last raft snapshot, so entries before that snapshot are
 * not read again. etcd has no request for a raft snapshot, but saves one after a number of entries. This
 * function writes entries that change no data until the members have saved a snapshot.
 */
export async function saveRaftSnapshots(
  client: EtcdClient,
  members: readonly EtcdMember[],
  mustSave: readonly string[],
  options: EtcdCallOptions,
): Promise<ReadonlySet<string>> {
  const readCounts = async (): Promise<ReadonlyMap<string, number>> =>
    new Map(
      (await settleAll(members.map(async (member) => readSnapshotCount(client, member, options)))).flat(),
    )
  const before = await readCounts()
  for (let entries = 0; entries < maxEntries; entries += entriesPerBatch) {
    await writeBatch(client, options)
    const counts = await readCounts()
    // A member that was unreachable before has no first count, so its count must not count as grown.
    const saved = new Set(
      [...before].filter(([id, count]) => (counts.get(id) ?? 0) > count).map(([id]) => id),
    )
    if (mustSave.every((id) => saved.has(id))) return saved
  }
  throw new EtcdError('ETCD_NO_RAFT_SNAPSHOT', `after ${maxEntries} entries no raft snapshot was saved`, {
    hint: 'remove snapshot-count from the args of etcd in cluster.yml; then: hyperkube up',
  })
}

/**
 * Writes a batch of entries. Throws the last error if no write succeeded. A write that fails during an election
 * is not repeated, because the next batch has more writes.
 */
async function writeBatch(client: EtcdClient, options: EtcdCallOptions): Promise<void> {
  const errors = await mapWithConcurrency(
    maxParallelRequests,
    Array.from({ length: entriesPerBatch }),
    async () =>
      client.change('kv/deleterange', emptyChange, z.looseObject({}), options).then(
        () => undefined,
        (error: unknown) => (error instanceof EtcdError ? error : Promise.reject(error)),
      ),
  )
  const last = errors.at(-1)
  if (last !== undefined && !errors.includes(undefined)) throw last
}

/** Reads how many raft snapshots a member has saved since it started; empty if it is unreachable. */
async function readSnapshotCount(
  client: EtcdClient,
  { id, clientUrls: [endpoint = ''] }: EtcdMember,
  options: EtcdCallOptions,
): Promise<readonly (readonly [id: string, count: number])[]> {
  const text = await client.metrics(endpoint, options).catch(ignoreEtcdError)
  const count = /^etcd_snap_fsync_duration_seconds_count (\d+)$/m.exec(text ?? '')?.[1]
  return count === undefined ? [] : [[id, Number(count)]]
}
