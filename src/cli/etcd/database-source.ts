import { stat } from 'node:fs/promises'
import { basename, posix, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { linuxLayout } from '../../agent/host/layout.ts'
import { snapshotFile } from '../../contract/host-resource.ts'
import type { DatabasePiece } from '../../etcd/database-pieces.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { firstFew } from '../../kit/truncate-list.ts'
import { timeOf } from '../../kit/file-timestamp.ts'
import { placesIn } from '../../lifecycle/host-endpoints.ts'
import { fileBytes } from '../../snapshot/file-bytes.ts'
import type { Remote } from '../../ssh/remote.ts'
import { openRemotes } from '../open-remotes.ts'
import type { EtcdScene } from './action.ts'

/** A database of etcd as `etcdctl snapshot save` writes it, somewhere. */
export interface DatabaseSource extends AsyncDisposable {
  /** Where it is, for people. */
  readonly title: string
  /** Whose database it is, as far as that is known. */
  readonly member: string
  readonly taken: Date
  readonly pieces: () => AsyncIterable<DatabasePiece>
}

/** On a host, where `HOST` alone is the newest one there and `HOST:FILE` that one; or a file here. */
export async function databaseSource(scene: EtcdScene, given: string): Promise<DatabaseSource> {
  const [, host = '', file] = /^([^:/]+)(?::(.+))?$/.exec(given) ?? []
  const isHost = placesIn(scene.cluster).some((one) => one.etcd && one.host === host)
  return isHost ? onHost(scene, host, file) : here(scene, given)
}

async function here({ context: { signal } }: EtcdScene, given: string): Promise<DatabaseSource> {
  const path = resolve(given)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) {
    throw new HyperkubeError(
      'SNAPSHOT_NOT_FOUND',
      `${given} is neither a host with a member of etcd nor a file`,
      {
        hint: 'hyperkube etcd snapshot fetch HOST; hyperkube etcd status names them',
      },
    )
  }
  return {
    title: path,
    member: basename(path),
    taken: takenAt(basename(path)) ?? found.mtime,
    pieces: () => counted(fileBytes(path, signal), found.size),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

const { snapshots: directory } = linuxLayout

async function onHost(scene: EtcdScene, host: string, wanted?: string): Promise<DatabaseSource> {
  const { context, options, cluster } = scene
  const { signal } = context
  const hosts = cluster.spec.hosts.filter(({ name }) => name === host)
  const remotes = await openRemotes(context, options.file, cluster, await scene.identity(), hosts)
  try {
    const remote = await remotes.of(host)
    const kept = await keptOn(remote, signal)
    const found = wanted === undefined ? kept.at(-1) : kept.find(({ name }) => name === wanted)
    if (found === undefined) throw notThere(host, wanted, kept)
    const path = posix.join(directory, found.name)
    return {
      title: `${host}:${found.name}`,
      member: host,
      taken: found.taken,
      pieces: () => counted(readFrom(remote, path, signal), found.size),
      [Symbol.asyncDispose]: async () => remotes[Symbol.asyncDispose](),
    }
  } catch (error) {
    await remotes[Symbol.asyncDispose]()
    throw error
  }
}

export interface Kept {
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly taken: Date
}

/** The oldest first. A host that keeps none has no such directory. */
async function keptOn(remote: Remote, signal: AbortSignal): Promise<Kept[]> {
  const argv = [
    'find',
    directory,
    '-maxdepth',
    '1',
    '-type',
    'f',
    '-printf',
    String.raw`%s %T@ %f\n`,
  ] as const
  const { code, stdout } = await remote.exec(argv, { root: true, signal, timeout: 30_000 })
  return code === 0 ? readKept(stdout) : []
}

/** Lines of `find`: size, seconds since 1970, name. Names that no snapshot has are passed over. */
export function readKept(text: string): Kept[] {
  return text
    .split('\n')
    .flatMap((line): Kept[] => {
      const [, size, seconds, name = ''] = /^(\d+) (\d+)\.\d+ (.+)$/.exec(line) ?? []
      if (!snapshotFile.safeParse(name).success) return []
      return [{ name, size: Number(size), taken: takenAt(name) ?? new Date(Number(seconds) * 1000) }]
    })
    .toSorted((a, b) => a.taken.getTime() - b.taken.getTime())
}

/** Hosts put it into the name: etcd-2026-11-16T12-00-00Z.db. */
export function takenAt(name: string): Date | undefined {
  return timeOf(/(.{20})\.db$/.exec(name)?.[1] ?? '')
}

async function* readFrom(remote: Remote, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { stdout, stdin, ended, kill } = await remote.open(['cat', path], { root: true, signal })
  stdin.end()
  // It is told of by its end, also where nobody gets there.
  ended.catch(() => undefined)
  try {
    yield* bytesOf(stdout)
    const { code, stderr } = await ended
    if (code === 0) return
    throw new HyperkubeError('SNAPSHOT_NOT_READ', `${path} could not be read: ${stderr.trim()}`, {
      host: remote.host,
      hint: 'the same command again; hyperkube etcd snapshot fetch HOST:FILE takes another one',
    })
  } finally {
    kill()
  }
}

async function* bytesOf(stream: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) yield chunkFormat.parse(chunk)
}

const chunkFormat = z.instanceof(Uint8Array)

async function* counted(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<DatabasePiece> {
  let remaining = size
  for await (const chunk of bytes) {
    remaining = Math.max(0, remaining - chunk.length)
    yield { bytes: Buffer.from(chunk), remaining }
  }
}

function notThere(host: string, wanted: string | undefined, kept: readonly Kept[]): HyperkubeError {
  const what = wanted === undefined ? 'no database' : `no ${wanted}`
  const names = kept.map(({ name }) => name).toReversed()
  return new HyperkubeError('SNAPSHOT_NOT_FOUND', `there is ${what} in ${directory}`, {
    host,
    hint:
      names.length === 0
        ? 'hosts keep some where spec.etcd.snapshots has a schedule; others may have one: hyperkube status --from-api'
        : `it has ${firstFew(names, 5)}`,
  })
}
