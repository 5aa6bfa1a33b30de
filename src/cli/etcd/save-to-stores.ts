import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SnapshotManifest } from '../../snapshot/manifest.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import { count } from '../format-text.ts'
import { type ByteProgress, megabytes, openByteProgress } from './progress.ts'
import type { EtcdScene } from './action.ts'
import { storesOf } from './stores.ts'
import { workDirectory } from './work-directory.ts'

export interface KeptSnapshot {
  readonly name: string
  readonly manifest: SnapshotManifest
  /** In bytes. */
  readonly size: number
  /** Where it is, for people. */
  readonly places: readonly string[]
}

/** Has a snapshot written into a file, and puts it into every place where snapshots are kept. */
export async function keepIn(
  scene: EtcdScene,
  name: string,
  write: (file: string, progress: ByteProgress) => Promise<SnapshotManifest>,
): Promise<KeptSnapshot> {
  const { context, flags } = scene
  const { signal } = context
  const stores = await storesOf(scene, flags.to)
  for (const store of stores.all) await refuseTaken(store, name, signal)
  await using work = await workDirectory(stores.directory)
  using progress = openByteProgress(context)
  const file = join(work.path, name)
  const manifest = await write(file, progress)
  const { size } = await stat(file)
  for (const store of stores.all) await store.put(name, file, progress.of(`to ${store.title}`), signal)
  return { name, manifest, size, places: stores.all.map(({ title }) => title) }
}

/** Said before etcd is asked for anything; it also shows whether the place is any good. */
async function refuseTaken(store: SnapshotStore, name: string, signal: AbortSignal): Promise<void> {
  const stored = await store.list(signal)
  if (stored.every((one) => one.name !== name)) return
  throw new HyperkubeError('SNAPSHOT_EXISTS', `there is a ${name} in ${store.title} already`, {
    hint: 'a snapshot never takes the place of another: give it a name that is free, or none',
  })
}

/** What was kept, of whom, and where. */
export function keptText({ name, manifest, size, places }: KeptSnapshot, from: string): string {
  const { keys, revision } = manifest
  const head = `${name}: ${count(keys, 'key')}, revision ${revision}, ${megabytes(size)} MB, from ${from}\n`
  return head + places.map((place) => `  in ${place}\n`).join('')
}
