import { toPrintable } from '../../../kit/printable.ts'
import { type PlannedChanges, buildPlanDocument } from '../../../lifecycle/plan-document.ts'
import { createClusterClient } from '../../../lifecycle/cluster-client.ts'
import type { ClusterInputs } from '../../../lifecycle/cluster-inputs.ts'
import { revisionBump } from '../../../snapshot/member-data.ts'
import type { EtcdPrograms } from '../../../snapshot/temporary-etcd.ts'
import { extractSnapshot, testRestore } from '../../../snapshot/verify.ts'
import { exitCodes } from '../../command.ts'
import { loadClusterInputs } from '../../load-inputs.ts'
import { printResult } from '../../print.ts'
import { resultNames, runWithProgress } from '../../run-with-progress.ts'
import { createDeferredAbort } from '../../up/deferred-abort.ts'
import { connectCluster } from '../../up/connect.ts'
import { formatCount } from '../../format-text.ts'
import { prepareEtcdPrograms } from '../programs.ts'
import { openByteProgress } from '../progress.ts'
import type { EtcdCommandAction, EtcdInvocation } from '../action.ts'
import { openSnapshotIdentity, loadSnapshotTrust } from '../trust.ts'
import { type SnapshotSource, findSnapshotSource, reportRead } from '../verify.ts'
import { createWorkDirectory } from '../work-directory.ts'
import { runRestore, type VerifiedSnapshot } from './run-restore.ts'

/**
 * Restores a cluster from a snapshot: checks the snapshot, asks for confirmation, uploads its data to every
 * member, and starts all services.
 */
export const restoreSnapshot: EtcdCommandAction = async (invocation) => {
  const { context, name } = invocation
  if (name === undefined) {
    context.stderr.write('USAGE: which one? hyperkube etcd snapshot restore NAME\n')
    context.stderr.write('  → hyperkube etcd snapshot list names them\n')
    return exitCodes.usage
  }
  return restoreFrom(invocation, await findSnapshotSource(invocation, name))
}

export async function restoreFrom(
  invocation: EtcdInvocation,
  source: SnapshotSource,
): ReturnType<EtcdCommandAction> {
  const { context, options, flags, cluster } = invocation
  const inputs = await loadClusterInputs(context, options, cluster)
  await using work = await createWorkDirectory()
  const { snapshot, programs } = await checkSnapshotSource(invocation, source, inputs, work.path)
  const settings = {
    command: 'etcd snapshot restore',
    cluster: cluster.metadata.name,
    progress: flags.progress,
    debug: options.debug === true,
  }
  let plannedChanges: PlannedChanges | undefined
  const result = await runWithProgress(context, settings, async (run) => {
    using deferredAbort = createDeferredAbort(context.signal)
    await using connection = await connectCluster(context, options, inputs, run, deferredAbort.signal)
    return await runRestore({
      ...connection,
      context,
      options,
      flags: {
        ignore: flags.ignore,
        forceUnlock: flags.forceUnlock,
        dryRun: flags.dryRun,
        plan: undefined,
        canPrompt: flags.progress !== 'json',
      },
      run,
      onPlanned: (changes) => (plannedChanges = changes),
      createClient: createClusterClient,
      persist: async () => undefined,
      deferAbort: deferredAbort.defer,
      deferredSignal: deferredAbort.signal,
      snapshot,
      programs,
      directory: work.path,
    })
  })
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
          `${manifest.cluster.name} is back as of ${manifest.created}: ${formatCount(manifest.keys, 'key')}, in ${result.seconds.toFixed(0)} s\n`,
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
 * Verifies the snapshot, and restores it into a temporary etcd of the release that will use it. Hosts are not
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
  if (flags.verify) progress.writeLine('it is complete and of this cluster; testing a restore')
  const programs = await prepareEtcdPrograms(
    { clusterFile: options.file, cluster, lock },
    { ...context, progress },
  )
  if (flags.verify) await testRestore(extracted, programs, deps)
  const sealed = extracted.small['cluster.identity'].toString('utf8')
  const previousIdentity = await openSnapshotIdentity(context, options, identity, sealed)
  return { snapshot: { ...extracted, name: source.name, previousIdentity }, programs }
}
