import { restoreCluster, type VerifiedSnapshot } from '../../../actions/restore.ts'
import { formatCount, toPrintable } from '../../../kit/text.ts'
import type { ClusterInputs } from '../../../lifecycle/inputs/cluster-inputs.ts'
import { buildPlanDocument, type PlannedChanges } from '../../../lifecycle/proposal/plan-approval.ts'
import { revisionBump } from '../../../snapshot/member-data.ts'
import type { EtcdPrograms } from '../../../snapshot/temporary-etcd.ts'
import { extractSnapshot, testRestore } from '../../../snapshot/verify.ts'
import { loadClusterInputs } from '../../../workspace/load-inputs.ts'
import { exitCodes } from '../../command/command.ts'
import { printResult } from '../../command/print.ts'
import { createTemporaryDirectory } from '../../environment/temporary-directory.ts'
import { openByteProgress } from '../../render/byte-progress.ts'
import { runAction } from '../../run/run-action.ts'
import { resultNames } from '../../run/run-with-progress.ts'
import type { EtcdCommandAction, EtcdInvocation } from '../action.ts'
import { prepareEtcdPrograms } from '../programs.ts'
import { loadSnapshotTrust, openSnapshotIdentity } from '../trust.ts'
import { findSnapshotSource, reportRead, type SnapshotSource } from '../verify.ts'

/**
 * Restores a cluster from a snapshot: checks the snapshot, asks for confirmation, uploads its data to every
 * member, and starts all services.
 */
export const restoreSnapshot: EtcdCommandAction = async (invocation) => {
  return restoreFrom(invocation, await findSnapshotSource(invocation, invocation.name ?? ''))
}

export async function restoreFrom(
  invocation: EtcdInvocation,
  source: SnapshotSource,
): ReturnType<EtcdCommandAction> {
  const { context, options, flags, cluster } = invocation
  const inputs = await loadClusterInputs(context, options, cluster)
  await using work = await createTemporaryDirectory()
  const { snapshot, programs } = await checkSnapshotSource(invocation, source, inputs, work.path)
  const settings = {
    command: 'etcd snapshot restore',
    cluster: cluster.metadata.name,
    progress: flags.progress,
  }
  let plannedChanges: PlannedChanges | undefined
  const restoreOptions = {
    files: options,
    forgetHostKeys: flags.forgetHostKey,
    ignore: flags.ignore,
    forceUnlock: flags.forceUnlock,
    dryRun: flags.dryRun,
    snapshot,
    programs,
    directory: work.path,
    onPlanned: (changes: PlannedChanges) => (plannedChanges = changes),
  }
  const result = await runAction(context, options, settings, async (run) =>
    restoreCluster(context, inputs, restoreOptions, run),
  )
  if (result.code === exitCodes.usage) return result.code
  const { manifest } = snapshot
  const resultDocument = {
    ...manifest,
    kind: 'EtcdRestoreResult',
    name: source.name,
    outcome: resultNames[result.code],
    restoredRevision: manifest.revision + revisionBump,
    changedHosts: result.changedHosts,
    seconds: result.seconds,
    ...(result.log === undefined ? {} : { log: result.log }),
  }
  const document =
    flags.dryRun && plannedChanges !== undefined ? buildPlanDocument(plannedChanges) : resultDocument
  const done = result.code === exitCodes.ok && result.changedHosts.length > 0
  printResult(context.stdout, options.output, document, () =>
    done
      ? toPrintable(
          `${manifest.cluster.name} is restored to ${manifest.created}: ${formatCount(manifest.keys, 'key')}, in ${result.seconds.toFixed(0)} s\n`,
        )
      : '',
  )
  return result.code
}

interface CheckedSnapshot {
  readonly snapshot: VerifiedSnapshot
  readonly programs: EtcdPrograms
}

/**
 * Verifies the snapshot, and restores it into a temporary etcd of the version in the lock. Hosts are not
 * contacted yet.
 */
async function checkSnapshotSource(
  { context, options, flags, cluster }: EtcdInvocation,
  source: SnapshotSource,
  { identity, lock }: ClusterInputs,
  directory: string,
): Promise<CheckedSnapshot> {
  const { signal } = context
  const trust = await loadSnapshotTrust(context, options, identity)
  using progress = openByteProgress(context)
  const bytes = reportRead(source, progress.track(`reading ${source.name}`))
  const deps = { trust, directory, signal }
  const extracted = await extractSnapshot(bytes, deps)
  if (flags.verify)
    progress.writeLine('the snapshot is complete and belongs to this cluster; testing a restore')
  const programs = await prepareEtcdPrograms({ files: options, cluster, lock }, { ...context, progress })
  if (flags.verify) await testRestore(extracted, programs, deps)
  const sealed = extracted.small['cluster.identity'].toString('utf8')
  const previousIdentity = await openSnapshotIdentity(context, options, identity, sealed)
  return { snapshot: { ...extracted, name: source.name, previousIdentity }, programs }
}
