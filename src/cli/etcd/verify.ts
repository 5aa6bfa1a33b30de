import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { readLock } from '../../catalog/lock.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { readFileBytes } from '../../kit/files.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import { addSnapshotExtension, type ReportBytes } from '../../snapshot/store.ts'
import { verifySnapshot } from '../../snapshot/verify.ts'
import { exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { createTemporaryDirectory } from '../environment/temporary-directory.ts'
import { formatMegabytes, openByteProgress } from '../render/byte-progress.ts'
import type { EtcdCommandAction, EtcdInvocation } from './action.ts'
import { prepareEtcdPrograms } from './programs.ts'
import { listUnlessFailed, openSnapshotStores } from './stores.ts'
import { loadSnapshotTrust } from './trust.ts'

/** Restores a snapshot into a temporary etcd on this machine and counts its keys. */
export const verifyStoredSnapshot: EtcdCommandAction = async (invocation) => {
  const { context, options, cluster, name = '' } = invocation
  const { signal, now, stdout } = context
  const startedAt = now()
  const trust = await loadSnapshotTrust(context, options, await invocation.identity())
  const source = await findSnapshotSource(invocation, name)
  await using work = await createTemporaryDirectory()
  using progress = openByteProgress(context)
  const { manifest, found } = await verifySnapshot(
    reportRead(source, progress.track(`reading ${source.name}`)),
    {
      trust,
      async programs(text) {
        progress.writeLine('the snapshot is complete and belongs to this cluster; testing a restore')
        const lock = readLock(`cluster.lock of ${source.name}`, text)
        return prepareEtcdPrograms({ files: options, cluster, lock }, { ...context, progress })
      },
      directory: work.path,
      signal,
    },
  )
  const seconds = (now().getTime() - startedAt.getTime()) / 1000
  const document = {
    ...manifest,
    kind: 'EtcdSnapshotVerified',
    name: source.name,
    store: source.store,
    size: source.size,
    ...found,
    seconds,
  }
  printResult(stdout, options.output, document, () =>
    toPrintable(
      `${source.name} is valid: ${formatCount(found.keys, 'key')}, revision ${found.revision}, ` +
        `${formatMegabytes(source.size)} MB, restored in ${seconds.toFixed(1)} s\n` +
        `  of ${manifest.cluster.name}, taken ${manifest.created}, Kubernetes ${manifest.versions.kubernetes}, ` +
        `etcd ${manifest.versions.etcd}\n`,
    ),
  )
  return exitCodes.ok
}

export interface SnapshotSource {
  readonly name: string
  /** Title of the store or path of the file, for messages. */
  readonly store: string
  /** Size of the snapshot in bytes. */
  readonly size: number
  readonly bytes: () => AsyncIterable<Uint8Array>
}

/**
 * Finds a local file, or the snapshot of this name in the first store that has it. A store that cannot be read is
 * an error only if no other store has the snapshot.
 */
export async function findSnapshotSource(invocation: EtcdInvocation, given: string): Promise<SnapshotSource> {
  const { context, flags } = invocation
  const { signal } = context
  const path = resolve(given)
  const localFile = flags.from === undefined ? await stat(path).catch(() => undefined) : undefined
  if (localFile?.isFile() === true) {
    return {
      name: basename(path),
      store: path,
      size: localFile.size,
      bytes: () => readFileBytes(path, signal),
    }
  }
  const name = addSnapshotExtension(given)
  const stores = (await openSnapshotStores(invocation, flags.from)).all
  const storeErrors: HyperkubeError[] = []
  for (const store of stores) {
    const listed = await listUnlessFailed(store, signal)
    if (listed instanceof HyperkubeError) {
      storeErrors.push(listed)
      continue
    }
    const found = listed.find((one) => one.name === name)
    if (found !== undefined) {
      return { name, store: store.title, size: found.size, bytes: () => store.read(name, signal) }
    }
  }
  const [storeError] = storeErrors
  if (storeError !== undefined) throw storeError
  const locations = stores.map(({ title }) => title).join(', nor in ')
  throw new HyperkubeError(
    'SNAPSHOT_NOT_FOUND',
    `${given} is not a file, and there is no ${name} in ${locations}`,
    {
      hint: 'list all snapshots: hyperkube etcd snapshot list',
    },
  )
}

/** Yields the bytes of a snapshot and reports how many were read. */
export async function* reportRead(
  { bytes, size }: SnapshotSource,
  progress: ReportBytes,
): AsyncGenerator<Uint8Array> {
  let done = 0
  for await (const chunk of bytes()) {
    done += chunk.length
    progress(done, size)
    yield chunk
  }
}
