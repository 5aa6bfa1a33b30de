import { basename } from 'node:path'
import type { Lock } from '../../catalog/lock.ts'
import type { KeyCount } from '../../etcd/member.ts'
import { printable } from '../../kit/printable.ts'
import { nameOf } from '../../snapshot/name.ts'
import { writeSnapshot } from '../../snapshot/save.ts'
import { type EtcdPrograms, startScratch } from '../../snapshot/temporary-etcd.ts'
import { exitCodes } from '../command.ts'
import { requireLock } from '../load-lock.ts'
import { print } from '../print.ts'
import { databaseSource } from './database-source.ts'
import { keepIn, keptText } from './save-to-stores.ts'
import { etcdPrograms } from './programs.ts'
import { wishOf } from './save.ts'
import type { EtcdAction } from './action.ts'
import { workDirectory } from './work-directory.ts'

/**
 * Makes a snapshot of a database that a host has kept by itself, or that somebody has brought here: so that it can be restored.
 * It is tried out first, as nothing in it says that it is good.
 */
export const fetch: EtcdAction = async (scene) => {
  const { context, options, cluster, name: given } = scene
  const { signal, now, stderr, stdout } = context
  if (given === undefined) {
    stderr.write('USAGE: from where? hyperkube etcd snapshot fetch HOST, HOST:FILE or FILE\n')
    stderr.write('  → hyperkube status --from-api names the newest; with a HOST alone it is that one\n')
    return exitCodes.usage
  }
  const begun = now()
  const lock = await requireLock(context, options.file)
  await using source = await databaseSource(scene, given)
  const wish = await wishOf(scene, source.taken)
  const kept = await keepIn(scene, nameOf(cluster.metadata.name, source.taken), async (file, progress) =>
    writeSnapshot(file, wish, {
      pieces: source.pieces(),
      progress: progress.of(`reading ${source.title}`),
      signal,
      async about(part) {
        progress.say('it is whole; restoring it for a trial')
        const programs = await etcdPrograms(
          { clusterFile: options.file, cluster, lock },
          { ...context, progress },
        )
        const found = await tried(programs, part, signal)
        return { ...found, etcd: etcdVersion(lock), member: { name: source.member, id: '0' } }
      },
    }),
  )
  const { name, manifest, size, places } = kept
  const seconds = (now().getTime() - begun.getTime()) / 1000
  const document = {
    ...manifest,
    kind: 'EtcdSnapshotFetched',
    name,
    from: source.title,
    stores: places,
    size,
    seconds,
  }
  print(stdout, options.output, document, () =>
    printable(
      keptText(kept, source.title) +
        `to bring the cluster back to it: hyperkube etcd snapshot restore ${basename(name, '.snapshot')}\n`,
    ),
  )
  return exitCodes.ok
}

/** What an etcd has that is made from it. */
async function tried(programs: EtcdPrograms, file: string, signal: AbortSignal): Promise<KeyCount> {
  await using trial = await workDirectory()
  await using scratch = await startScratch(programs, file, trial.path, signal)
  return await scratch.count()
}

function etcdVersion({ artifacts }: Lock): string {
  return artifacts.find(({ component }) => component === 'etcd')?.version ?? ''
}
