import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatCount } from '../../kit/text.ts'
import type { SnapshotManifest } from '../../snapshot/manifest.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import { type ByteProgress, formatMegabytes, openByteProgress } from '../render/byte-progress.ts'
import type { EtcdInvocation } from './action.ts'
import { createSnapshotDirectory } from './snapshot-directory.ts'
import { openSnapshotStores } from './stores.ts'

export interface SavedSnapshot {
  readonly name: string
  readonly manifest: SnapshotManifest
  /** Size of the snapshot in bytes. */
  readonly size: number
  /** Titles of the stores, for messages. */
  readonly locations: readonly string[]
}

/**
 * Lets `write` create a snapshot file, and copies the file to the store of --to, or to all stores of
 * cluster.yml.
 */
export async function saveToStores(
  invocation: EtcdInvocation,
  name: string,
  write: (file: string, progress: ByteProgress) => Promise<SnapshotManifest>,
): Promise<SavedSnapshot> {
  const { context, flags } = invocation
  const { signal } = context
  const stores = await openSnapshotStores(invocation, flags.to)
  for (const store of stores.all) await requireFreeName(store, name, signal)
  await using work = await createSnapshotDirectory(stores.directory)
  using progress = openByteProgress(context)
  const file = join(work.path, name)
  const manifest = await write(file, progress)
  const { size } = await stat(file)
  for (const store of stores.all)
    await store.put(name, file, progress.track(`copying to ${store.title}`), signal)
  return { name, manifest, size, locations: stores.all.map(({ title }) => title) }
}

/**
 * Throws if the store already has a snapshot with this name. Runs before etcd is read, so an unusable store
 * is noticed early.
 */
async function requireFreeName(store: SnapshotStore, name: string, signal: AbortSignal): Promise<void> {
  const stored = await store.list(signal)
  if (stored.every((one) => one.name !== name)) return
  throw new HyperkubeError('SNAPSHOT_EXISTS', `${store.title} already has a snapshot ${name}`, {
    hint: 'hyperkube never overwrites snapshots; choose another name, or omit the name',
  })
}

/** Formats name, content, origin and locations of a saved snapshot. */
export function formatSavedSnapshot(
  { name, manifest, size, locations }: SavedSnapshot,
  from: string,
): string {
  const { keys, revision } = manifest
  const head = `${name}: ${formatCount(keys, 'key')}, revision ${revision}, ${formatMegabytes(size)} MB, from ${from}\n`
  return head + locations.map((location) => `  in ${location}\n`).join('')
}
