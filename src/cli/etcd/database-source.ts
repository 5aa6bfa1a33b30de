import { stat } from 'node:fs/promises'
import { basename, posix, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { linuxLayout } from '../../agent/host/layout.ts'
import { snapshotFileName } from '../../contract/host-resource.ts'
import type { DatabasePiece } from '../../etcd/database-pieces.ts'
import { readFileBytes } from '../../kit/files.ts'
import { parseFileTimestamp } from '../../kit/time-format.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { joinNames, truncateList } from '../../kit/text.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import type { Remote } from '../../ssh/remote.ts'
import { openRemotes } from '../../workspace/ssh-connector.ts'
import type { EtcdInvocation } from './action.ts'

/** An etcd database as `etcdctl snapshot save` writes it. */
export interface DatabaseSource extends AsyncDisposable {
  /** Location of the database, for messages. */
  readonly title: string
  /** Name of the member from which the database was taken, as far as it is known. */
  readonly member: string
  readonly taken: Date
  readonly pieces: () => AsyncIterable<DatabasePiece>
}

/**
 * Opens a database. `HOST` means the newest database on a host, `HOST:FILE` a specific database on a host,
 * and anything else the path of a local file.
 */
export async function openDatabaseSource(invocation: EtcdInvocation, given: string): Promise<DatabaseSource> {
  const [, host = '', file] = /^([^:/]+)(?::(.+))?$/.exec(given) ?? []
  const isHost = listClusterEndpoints(invocation.cluster).some((one) => one.etcd && one.host === host)
  return isHost ? openOnHost(invocation, host, file) : openLocalFile(invocation, given)
}

async function openLocalFile(
  { context: { signal } }: EtcdInvocation,
  given: string,
): Promise<DatabaseSource> {
  const path = resolve(given)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) {
    throw new HyperkubeError('SNAPSHOT_NOT_FOUND', `${given} is neither an etcd host nor a local file`, {
      hint: 'list the etcd members: hyperkube etcd status; then: hyperkube etcd snapshot fetch HOST',
    })
  }
  return {
    title: path,
    member: basename(path),
    taken: parseDatabaseTime(basename(path)) ?? found.mtime,
    pieces: () => withRemaining(readFileBytes(path, signal), found.size),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

const { snapshots: directory } = linuxLayout

async function openOnHost(
  invocation: EtcdInvocation,
  host: string,
  fileName?: string,
): Promise<DatabaseSource> {
  const { context, options, cluster } = invocation
  const { signal } = context
  const hosts = cluster.spec.hosts.filter(({ name }) => name === host)
  const remotes = await openRemotes(context, options.file, cluster, await invocation.identity(), hosts)
  try {
    const remote = await remotes.findRemote(host)
    const databases = await listHostDatabases(remote, signal)
    const found = fileName === undefined ? databases.at(-1) : databases.find(({ name }) => name === fileName)
    if (found === undefined) {
      const members = listClusterEndpoints(cluster).filter(({ etcd }) => etcd)
      throw buildNotFoundError(
        { host, fileName, others: members.map((one) => one.host).filter((name) => name !== host) },
        databases,
      )
    }
    const path = posix.join(directory, found.name)
    return {
      title: `${host}:${found.name}`,
      member: host,
      taken: found.taken,
      pieces: () => withRemaining(readRemoteFile(remote, path, signal), found.size),
      [Symbol.asyncDispose]: async () => remotes[Symbol.asyncDispose](),
    }
  } catch (error) {
    await remotes[Symbol.asyncDispose]()
    throw error
  }
}

export interface HostDatabase {
  readonly name: string
  /** Size of the file in bytes. */
  readonly size: number
  readonly taken: Date
}

/**
 * Lists the saved etcd databases on a host, oldest first. Returns an empty list if `find` fails, because a
 * host without databases does not have the directory.
 */
async function listHostDatabases(remote: Remote, signal: AbortSignal): Promise<HostDatabase[]> {
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
  return code === 0 ? parseHostDatabases(stdout) : []
}

/**
 * Parses lines of `find`: size, seconds since 1970, name. Ignores files that are not named like snapshots.
 */
export function parseHostDatabases(text: string): HostDatabase[] {
  return text
    .split('\n')
    .flatMap((line): HostDatabase[] => {
      const [, size, seconds, name = ''] = /^(\d+) (\d+)\.\d+ (.+)$/.exec(line) ?? []
      if (!snapshotFileName.safeParse(name).success) return []
      return [
        { name, size: Number(size), taken: parseDatabaseTime(name) ?? new Date(Number(seconds) * 1000) },
      ]
    })
    .toSorted((a, b) => a.taken.getTime() - b.taken.getTime())
}

/** Reads the time from a file name such as etcd-2026-11-16T12-00-00Z.db. */
export function parseDatabaseTime(name: string): Date | undefined {
  return parseFileTimestamp(/(.{20})\.db$/.exec(name)?.[1] ?? '')
}

async function* readRemoteFile(
  remote: Remote,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { stdout, stdin, ended, kill } = await remote.open(['cat', path], { root: true, signal })
  stdin.end()
  // The error is thrown when `ended` is awaited below. Without this handler it could become an unhandled
  // rejection before that.
  ended.catch(() => undefined)
  try {
    yield* readChunks(stdout)
    const { code, stderr } = await ended
    if (code === 0) return
    throw new HyperkubeError('SNAPSHOT_NOT_READ', `cannot read ${path}: ${stderr.trim()}`, {
      host: remote.host,
      hint: 'run the same command again, or use another file: hyperkube etcd snapshot fetch HOST:FILE',
    })
  } finally {
    kill()
  }
}

async function* readChunks(stream: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) yield chunkFormat.parse(chunk)
}

const chunkFormat = z.instanceof(Uint8Array)

async function* withRemaining(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<DatabasePiece> {
  let remaining = size
  for await (const chunk of bytes) {
    remaining = Math.max(0, remaining - chunk.length)
    yield { bytes: Buffer.from(chunk), remaining }
  }
}

interface MissingDatabase {
  readonly host: string
  readonly fileName: string | undefined
  /** The other etcd hosts of the cluster. */
  readonly others: readonly string[]
}

/** The hint needs no API, because a database is fetched when etcd is lost. */
export function buildNotFoundError(
  { host, fileName, others }: MissingDatabase,
  databases: readonly HostDatabase[],
): HyperkubeError {
  const missingText = fileName === undefined ? 'no etcd database' : `no ${fileName}`
  const names = databases.map(({ name }) => name).toReversed()
  const [other] = others
  const otherText =
    other === undefined
      ? ''
      : `; try the other etcd hosts (${joinNames(others)}): hyperkube etcd snapshot fetch ${other}`
  return new HyperkubeError('SNAPSHOT_NOT_FOUND', `there is ${missingText} in ${directory}`, {
    host,
    hint:
      names.length === 0
        ? `hosts back up etcd only with a schedule in spec.etcd.snapshots${otherText}`
        : `files there: ${truncateList(names, 5)}`,
  })
}
