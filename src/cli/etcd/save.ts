import packageFile from '../../../package.json' with { type: 'json' }
import { checkEtcdHealth } from '../../etcd/cluster-health.ts'
import { observeEtcd } from '../../etcd/observe.ts'
import { buildSigningKey } from '../../identity/signing-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { SmallFile } from '../../snapshot/manifest.ts'
import { saveSnapshot, type SnapshotSpec } from '../../snapshot/save.ts'
import { addSnapshotExtension, buildSnapshotName, snapshotName } from '../../snapshot/store.ts'
import { buildIdentityPath, buildLockPath } from '../../workspace/cluster-paths.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { openEtcd } from '../../workspace/open-cluster.ts'
import { exitCodes } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import type { EtcdCommandAction, EtcdInvocation } from './action.ts'
import { formatSavedSnapshot, type SavedSnapshot, saveToStores } from './save-to-stores.ts'

/** Takes a snapshot and saves it to the store of --to, or to all stores of cluster.yml. */
export const saveEtcdSnapshot: EtcdCommandAction = async (invocation) => {
  const { context, options } = invocation
  const startedAt = context.now()
  const saved = await saveMemberSnapshot(invocation, chooseSnapshotName(invocation, startedAt), startedAt)
  const { manifest, name, size, locations } = saved
  const seconds = (context.now().getTime() - startedAt.getTime()) / 1000
  const document = { ...manifest, kind: 'EtcdSnapshotSaved', name, stores: locations, size, seconds }
  printResult(context.stdout, options.output, document, () =>
    toPrintable(formatSavedSnapshot(saved, manifest.member.name)),
  )
  return exitCodes.ok
}

/** Saves a snapshot of the given member. Without `member`, prefers a ready member that is not the leader. */
export async function saveMemberSnapshot(
  invocation: EtcdInvocation,
  name: string,
  created: Date,
  member?: string,
): Promise<SavedSnapshot> {
  const { context, options, cluster } = invocation
  const { signal } = context
  const spec = await buildSnapshotSpec(invocation, created)
  return saveToStores(invocation, name, async (file, progress) => {
    await using etcd = await openEtcd(context, options.file, cluster, await invocation.identity())
    const observed = await observeEtcd(etcd.client, { signal })
    context.stderr.write(formatFindings(checkEtcdHealth(observed)))
    const members = observed.members.filter((one) => member === undefined || one.name === member)
    return await saveSnapshot(file, spec, {
      client: etcd.client,
      observed: { ...observed, members },
      progress: progress.track('reading the etcd database'),
      signal,
    })
  })
}

/** Collects the contents of a snapshot other than the database. */
export async function buildSnapshotSpec(invocation: EtcdInvocation, created: Date): Promise<SnapshotSpec> {
  const identity = await invocation.identity()
  const { kubernetes } = await requireLock(invocation.context, invocation.options.file)
  return {
    cluster: { name: identity.metadata.name, id: identity.id },
    versions: { hyperkube: packageFile.version, kubernetes },
    small: await readSmallFiles(invocation),
    privateKey: buildSigningKey(identity).privateKey,
    created,
  }
}

function chooseSnapshotName({ name, cluster }: EtcdInvocation, taken: Date): string {
  const snapshotFileName =
    name === undefined ? buildSnapshotName(cluster.metadata.name, taken) : addSnapshotExtension(name)
  if (snapshotName.safeParse(snapshotFileName).success) return snapshotFileName
  throw new HyperkubeError('SNAPSHOT_NAME', `${snapshotFileName} is not a valid snapshot name`, {
    hint: 'use letters, digits, dots and dashes: hyperkube etcd snapshot save before-upgrade',
  })
}

/** Reads the cluster's files unchanged; the identity stays sealed. */
async function readSmallFiles({ context, options }: EtcdInvocation): Promise<Record<SmallFile, Buffer>> {
  const { readFile, privateFiles } = context
  return {
    'cluster.identity': Buffer.from(await privateFiles.read(buildIdentityPath(options.file))),
    'cluster.yml': Buffer.from(await readFile(options.file)),
    'cluster.lock': Buffer.from(await readFile(buildLockPath(options.file))),
  }
}
