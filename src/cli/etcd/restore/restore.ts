import { printable } from '../../../kit/printable.ts'
import { type Foreseen, planDocument } from '../../../lifecycle/plan-document.ts'
import { surroundings } from '../../../lifecycle/cluster-client.ts'
import type { Wish } from '../../../lifecycle/build-proposal.ts'
import { revisionBump } from '../../../snapshot/member-data.ts'
import type { EtcdPrograms } from '../../../snapshot/temporary-etcd.ts'
import { takeOut, tryOut } from '../../../snapshot/verify.ts'
import { exitCodes } from '../../command.ts'
import { loadWish } from '../../load-inputs.ts'
import { print } from '../../print.ts'
import { outcomeNames, reportedRun } from '../../run-with-progress.ts'
import { leash } from '../../up/deferred-abort.ts'
import { reach } from '../../up/connect.ts'
import { count } from '../../format-text.ts'
import { etcdPrograms } from '../programs.ts'
import { openByteProgress } from '../progress.ts'
import type { EtcdAction, EtcdScene } from '../action.ts'
import { identityIn, trustIn } from '../trust.ts'
import { type SnapshotSource, sourceOf, told } from '../verify.ts'
import { workDirectory } from '../work-directory.ts'
import { comeBack, type GoodSnapshot } from './run-restore.ts'

/** Brings a cluster back from a snapshot: checks it, asks, gives every member its data, and brings everything up. */
export const restore: EtcdAction = async (scene) => {
  const { context, name } = scene
  if (name === undefined) {
    context.stderr.write('USAGE: which one? hyperkube etcd snapshot restore NAME\n')
    context.stderr.write('  → hyperkube etcd snapshot list names them\n')
    return exitCodes.usage
  }
  return restoreFrom(scene, await sourceOf(scene, name))
}

export async function restoreFrom(scene: EtcdScene, source: SnapshotSource): ReturnType<EtcdAction> {
  const { context, options, flags, cluster } = scene
  const wish = await loadWish(context, options, cluster)
  await using work = await workDirectory()
  const { snapshot, programs } = await checked(scene, source, wish, work.path)
  const settings = {
    command: 'etcd snapshot restore',
    cluster: cluster.metadata.name,
    progress: flags.progress,
    debug: options.debug === true,
  }
  let foreseen: Foreseen | undefined
  const ended = await reportedRun(context, settings, async (run) => {
    using way = leash(context.signal)
    await using reached = await reach(context, options, wish, run, way.signal)
    return await comeBack({
      ...reached,
      context,
      options,
      flags: {
        ignore: flags.ignore,
        forceUnlock: flags.forceUnlock,
        dryRun: flags.dryRun,
        plan: undefined,
        mayAsk: flags.progress !== 'json',
      },
      run,
      foreseen: (what) => (foreseen = what),
      look: surroundings,
      keep: async () => undefined,
      begin: way.letGo,
      lasting: way.signal,
      snapshot,
      programs,
      directory: work.path,
    })
  })
  if (ended.code === exitCodes.usage) return ended.code
  const { manifest } = snapshot
  const result = {
    ...manifest,
    kind: 'EtcdRestoreResult',
    name: source.name,
    outcome: outcomeNames[ended.code],
    restoredRevision: manifest.revision + revisionBump,
    changedHosts: ended.changedHosts,
    seconds: ended.seconds,
    ...(ended.log === undefined ? {} : { log: ended.log }),
  }
  const document = flags.dryRun && foreseen !== undefined ? planDocument(foreseen) : result
  const done = ended.code === exitCodes.ok && ended.changedHosts.length > 0
  print(context.stdout, options.output, document, () =>
    done
      ? printable(
          `${manifest.cluster.name} is back as of ${manifest.created}: ${count(manifest.keys, 'key')}, in ${ended.seconds.toFixed(0)} s\n`,
        )
      : '',
  )
  return ended.code
}

interface Checked {
  readonly snapshot: GoodSnapshot
  readonly programs: EtcdPrograms
}

/** By itself, and in an etcd of the very release that shall run with it. Nothing has been asked of any host yet. */
async function checked(
  { context, options, flags, cluster }: EtcdScene,
  source: SnapshotSource,
  { identity, lock }: Wish,
  directory: string,
): Promise<Checked> {
  const { signal } = context
  const trust = await trustIn(context, options, identity)
  using progress = openByteProgress(context)
  const bytes = told(source, progress.of(`reading ${source.name}`))
  const world = { trust, directory, signal }
  const taken = await takeOut(bytes, world)
  if (flags.verify) progress.say('it is whole and of this cluster; restoring it for a trial')
  const programs = await etcdPrograms({ clusterFile: options.file, cluster, lock }, { ...context, progress })
  if (flags.verify) await tryOut(taken, programs, world)
  const sealed = taken.small['cluster.identity'].toString('utf8')
  const former = await identityIn(context, options, identity, sealed)
  return { snapshot: { ...taken, name: source.name, former }, programs }
}
