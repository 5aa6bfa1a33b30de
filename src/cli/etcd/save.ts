import packageFile from '../../../package.json' with { type: 'json' }
import { clusterHealth } from '../../etcd/cluster-health.ts'
import { observe } from '../../etcd/observe.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { SmallFile } from '../../snapshot/manifest.ts'
import { fullName, nameOf, snapshotName } from '../../snapshot/name.ts'
import { saveSnapshot, type SaveWish } from '../../snapshot/save.ts'
import { identityFile, lockFile } from '../cluster-paths.ts'
import { exitCodes } from '../command.ts'
import { requireLock } from '../load-lock.ts'
import { findingsText, print } from '../print.ts'
import { keepIn, type KeptSnapshot, keptText } from './save-to-stores.ts'
import { openEtcd } from './open-etcd.ts'
import type { EtcdAction, EtcdScene } from './action.ts'

/** Takes a snapshot, and keeps it in every place where snapshots are kept. */
export const save: EtcdAction = async (scene) => {
  const { context, options } = scene
  const begun = context.now()
  const kept = await keepSnapshot(scene, nameFor(scene, begun), begun)
  const { manifest, name, size, places } = kept
  const seconds = (context.now().getTime() - begun.getTime()) / 1000
  const document = { ...manifest, kind: 'EtcdSnapshotSaved', name, stores: places, size, seconds }
  print(context.stdout, options.output, document, () => printable(keptText(kept, manifest.member.name)))
  return exitCodes.ok
}

/** From the member that can best spare the time, or from one by its name. */
export async function keepSnapshot(
  scene: EtcdScene,
  name: string,
  created: Date,
  member?: string,
): Promise<KeptSnapshot> {
  const { context, options, cluster } = scene
  const { signal } = context
  const wish = await wishOf(scene, created)
  return keepIn(scene, name, async (file, progress) => {
    await using etcd = await openEtcd(context, options.file, cluster, await scene.identity())
    const observed = await observe(etcd.client, { signal })
    context.stderr.write(findingsText(clusterHealth(observed)))
    const members = observed.members.filter((one) => member === undefined || one.name === member)
    return await saveSnapshot(file, wish, {
      client: etcd.client,
      observed: { ...observed, members },
      progress: progress.of('etcd’s database'),
      signal,
    })
  })
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

/** As they are: the identity sealed. */
async function smallFiles({ context, options }: EtcdScene): Promise<Record<SmallFile, Buffer>> {
  const { readFile, privateFiles } = context
  return {
    'cluster.identity': Buffer.from(await privateFiles.read(identityFile(options.file))),
    'cluster.yml': Buffer.from(await readFile(options.file)),
    'cluster.lock': Buffer.from(await readFile(lockFile(options.file))),
  }
}
