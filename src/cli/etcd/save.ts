import { join } from 'node:path'
import { stat } from 'node:fs/promises'
import packageFile from '../../../package.json' with { type: 'json' }
import { clusterHealth } from '../../etcd/cluster-health.ts'
import { observe } from '../../etcd/observe.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { SmallFile, SnapshotManifest } from '../../snapshot/manifest.ts'
import { fullName, nameOf, snapshotName } from '../../snapshot/name.ts'
import { saveSnapshot, type SaveWish } from '../../snapshot/save.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import { identityFile, lockFile } from '../beside.ts'
import { exitCodes } from '../command.ts'
import { requireLock } from '../load-lock.ts'
import { findingsText, print } from '../print.ts'
import { count } from '../words.ts'
import { openEtcd } from './open-etcd.ts'
import { megabytes, openByteProgress } from './progress.ts'
import type { EtcdAction, EtcdScene } from './scene.ts'
import { storesOf } from './stores.ts'
import { workDirectory } from './work-directory.ts'

/** Takes a snapshot, and keeps it in every place where snapshots are kept. */
export const save: EtcdAction = async (scene) => {
  const { context, options } = scene
  const begun = context.now()
  const { manifest, name, size, places } = await keepSnapshot(scene, nameFor(scene, begun), begun)
  const seconds = (context.now().getTime() - begun.getTime()) / 1000
  const document = { ...manifest, kind: 'EtcdSnapshotSaved', name, stores: places, size, seconds }
  print(context.stdout, options.output, document, () =>
    printable(
      `${name}: ${count(manifest.keys, 'key')}, revision ${manifest.revision}, ${megabytes(size)} MB, ` +
        `from ${manifest.member.name}\n${places.map((place) => `  in ${place}\n`).join('')}`,
    ),
  )
  return exitCodes.ok
}

export interface KeptSnapshot {
  readonly name: string
  readonly manifest: SnapshotManifest
  /** In bytes. */
  readonly size: number
  /** Where it is, for people. */
  readonly places: readonly string[]
}

/** From the member that can best spare the time, or from one by its name. */
export async function keepSnapshot(
  scene: EtcdScene,
  name: string,
  created: Date,
  member?: string,
): Promise<KeptSnapshot> {
  const { context, options, flags, cluster } = scene
  const { signal } = context
  const identity = await scene.identity()
  const stores = await storesOf(scene, flags.to)
  for (const store of stores.all) await refuseTaken(store, name, signal)

  await using work = await workDirectory(stores.directory)
  await using etcd = await openEtcd(context, options.file, cluster, identity)
  const observed = await observe(etcd.client, { signal })
  context.stderr.write(findingsText(clusterHealth(observed)))
  const members = observed.members.filter((one) => member === undefined || one.name === member)
  const file = join(work.path, name)
  using progress = openByteProgress(context)
  const manifest = await saveSnapshot(file, await wishOf(scene, created), {
    client: etcd.client,
    observed: { ...observed, members },
    progress: progress.of('etcd’s database'),
    signal,
  })
  const { size } = await stat(file)
  for (const store of stores.all) await store.put(name, file, progress.of(`to ${store.title}`), signal)
  return { name, manifest, size, places: stores.all.map(({ title }) => title) }
}

/** What a snapshot of this cluster has in it beside the database. */
export async function wishOf(scene: EtcdScene, created: Date): Promise<SaveWish> {
  const identity = await scene.identity()
  const { kubernetes } = await requireLock(scene.context, scene.options.file)
  return {
    cluster: { name: identity.metadata.name, id: identity.id },
    versions: { hyperkube: packageFile.version, kubernetes },
    small: await smallFiles(scene),
    privateKey: bundleKey(identity).privateKey,
    created,
  }
}

function nameFor({ name, cluster }: EtcdScene, taken: Date): string {
  const wanted = name === undefined ? nameOf(cluster.metadata.name, taken) : fullName(name)
  if (snapshotName.safeParse(wanted).success) return wanted
  throw new HyperkubeError('SNAPSHOT_NAME', `${wanted} is no name for a snapshot`, {
    hint: 'letters, digits, dots and dashes: hyperkube etcd snapshot save before-upgrade',
  })
}

/** Said before etcd is asked for anything; it also shows whether the place is any good. */
export async function refuseTaken(store: SnapshotStore, name: string, signal: AbortSignal): Promise<void> {
  const stored = await store.list(signal)
  if (stored.every((one) => one.name !== name)) return
  throw new HyperkubeError('SNAPSHOT_EXISTS', `there is a ${name} in ${store.title} already`, {
    hint: 'a snapshot never takes the place of another: give it a name that is free, or none',
  })
}

/** As they are: the identity sealed. */
async function smallFiles({ context, options }: EtcdScene): Promise<Record<SmallFile, Buffer>> {
  const { readFile, privateFiles } = context
  return {
    'cluster.identity': Buffer.from(await privateFiles.read(identityFile(options.file))),
    'cluster.yml': Buffer.from(await readFile(options.file)),
    'cluster.lock': Buffer.from(await readFile(lockFile(options.file))),
  }
}
