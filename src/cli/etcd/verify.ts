import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { readLock } from '../../catalog/lock.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { fileBytes } from '../../snapshot/file-bytes.ts'
import { fullName } from '../../snapshot/name.ts'
import type { Progress } from '../../snapshot/store.ts'
import { verifySnapshot } from '../../snapshot/verify.ts'
import { exitCodes } from '../command.ts'
import { print } from '../print.ts'
import { count } from '../format-text.ts'
import { etcdPrograms } from './programs.ts'
import { megabytes, openByteProgress } from './progress.ts'
import type { EtcdAction, EtcdScene } from './action.ts'
import { storesOf } from './stores.ts'
import { trustIn } from './trust.ts'
import { workDirectory } from './work-directory.ts'

/** Restores a snapshot for real, in an etcd of this machine that is gone afterwards, and counts what is there. */
export const verify: EtcdAction = async (scene) => {
  const { context, options, cluster, name } = scene
  const { signal, now, stderr, stdout } = context
  if (name === undefined) {
    stderr.write('USAGE: which one? hyperkube etcd snapshot verify NAME\n')
    stderr.write('  → hyperkube etcd snapshot list names them\n')
    return exitCodes.usage
  }
  const begun = now()
  const trust = await trustIn(context, options, await scene.identity())
  const source = await sourceOf(scene, name)
  await using work = await workDirectory()
  using progress = openByteProgress(context)
  const { manifest, found } = await verifySnapshot(told(source, progress.of(`reading ${source.name}`)), {
    trust,
    async programs(text) {
      progress.say('it is whole and of this cluster; restoring it')
      const lock = readLock(`cluster.lock of ${source.name}`, text)
      return etcdPrograms({ clusterFile: options.file, cluster, lock }, { ...context, progress })
    },
    directory: work.path,
    signal,
  })
  const seconds = (now().getTime() - begun.getTime()) / 1000
  const document = {
    ...manifest,
    kind: 'EtcdSnapshotVerified',
    name: source.name,
    store: source.store,
    size: source.size,
    ...found,
    seconds,
  }
  print(stdout, options.output, document, () =>
    printable(
      `${source.name} is good: ${count(found.keys, 'key')}, revision ${found.revision}, ` +
        `${megabytes(source.size)} MB, restored in ${seconds.toFixed(1)} s\n` +
        `  of ${manifest.cluster.name}, taken ${manifest.created}, Kubernetes ${manifest.versions.kubernetes}, ` +
        `etcd ${manifest.versions.etcd}\n`,
    ),
  )
  return exitCodes.ok
}

export interface SnapshotSource {
  readonly name: string
  /** Where it is, for people. */
  readonly store: string
  /** In bytes. */
  readonly size: number
  readonly bytes: () => AsyncIterable<Uint8Array>
}

/** A file that is here, or a snapshot in the first place that has one of this name. */
export async function sourceOf(scene: EtcdScene, given: string): Promise<SnapshotSource> {
  const { context, flags } = scene
  const { signal } = context
  const path = resolve(given)
  const here = flags.from === undefined ? await stat(path).catch(() => undefined) : undefined
  if (here?.isFile() === true) {
    return { name: basename(path), store: path, size: here.size, bytes: () => fileBytes(path, signal) }
  }
  const name = fullName(given)
  const stores = (await storesOf(scene, flags.from)).all
  for (const store of stores) {
    const found = (await store.list(signal)).find((one) => one.name === name)
    if (found !== undefined) {
      return { name, store: store.title, size: found.size, bytes: () => store.read(name, signal) }
    }
  }
  const places = stores.map(({ title }) => title).join(', nor in ')
  throw new HyperkubeError(
    'SNAPSHOT_NOT_FOUND',
    `${given} is no file, and there is no ${name} in ${places}`,
    {
      hint: 'hyperkube etcd snapshot list',
    },
  )
}

/** Its bytes, and how many of them have come. */
export async function* told({ bytes, size }: SnapshotSource, progress: Progress): AsyncGenerator<Uint8Array> {
  let done = 0
  for await (const chunk of bytes()) {
    done += chunk.length
    progress(done, size)
    yield chunk
  }
}
