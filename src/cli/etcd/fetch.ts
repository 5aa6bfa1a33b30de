import { basename } from 'node:path'
import type { Lock } from '../../catalog/lock.ts'
import type { KeyCount } from '../../etcd/member.ts'
import { toPrintable } from '../../kit/text.ts'
import { writeSnapshot } from '../../snapshot/save.ts'
import { buildSnapshotName } from '../../snapshot/store.ts'
import { type EtcdPrograms, startTemporaryEtcd } from '../../snapshot/temporary-etcd.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { createTemporaryDirectory } from '../environment/temporary-directory.ts'
import type { EtcdCommandAction } from './action.ts'
import { openDatabaseSource } from './database-source.ts'
import { prepareEtcdPrograms } from './programs.ts'
import { formatSavedSnapshot, saveToStores } from './save-to-stores.ts'
import { buildSnapshotSpec } from './save.ts'

/**
 * Makes a restorable snapshot from a database that a host has saved on its own, or from a local file. The
 * database is first restored into a temporary etcd, because nothing in the file proves that it is complete.
 */
export const fetchSnapshot: EtcdCommandAction = async (invocation) => {
  const { context, options, cluster, name: given = '' } = invocation
  const { signal, now, stdout } = context
  const startedAt = now()
  const lock = await requireLock(context, options.file)
  await using source = await openDatabaseSource(invocation, given)
  const spec = await buildSnapshotSpec(invocation, source.taken)
  const saved = await saveToStores(
    invocation,
    buildSnapshotName(cluster.metadata.name, source.taken),
    async (file, progress) =>
      writeSnapshot(file, spec, {
        pieces: source.pieces(),
        progress: progress.track(`reading ${source.title}`),
        signal,
        async details(part) {
          progress.writeLine('the database is complete; testing a restore')
          const programs = await prepareEtcdPrograms(
            { files: options, cluster, lock },
            { ...context, progress },
          )
          const found = await countRestoredKeys(programs, part, signal)
          return { ...found, etcd: readEtcdVersion(lock), member: { name: source.member, id: '0' } }
        },
      }),
  )
  const { name, manifest, size, locations } = saved
  const seconds = (now().getTime() - startedAt.getTime()) / 1000
  const document = {
    ...manifest,
    kind: 'EtcdSnapshotFetched',
    name,
    from: source.title,
    stores: locations,
    size,
    seconds,
  }
  printResult(stdout, options.output, document, () =>
    toPrintable(
      formatSavedSnapshot(saved, source.title) +
        `to restore it: hyperkube etcd snapshot restore ${basename(name, '.snapshot')}\n`,
    ),
  )
  return exitCodes.ok
}

/** Restores a database into a temporary etcd and counts its keys. */
async function countRestoredKeys(
  programs: EtcdPrograms,
  file: string,
  signal: AbortSignal,
): Promise<KeyCount> {
  await using work = await createTemporaryDirectory()
  await using etcd = await startTemporaryEtcd(programs, file, work.path, signal)
  return await etcd.countKeys()
}

function readEtcdVersion({ artifacts }: Lock): string {
  return artifacts.find(({ component }) => component === 'etcd')?.version ?? ''
}
