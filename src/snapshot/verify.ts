import { join } from 'node:path'
import type { KeyCount } from '../etcd/member.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { writeNew } from './file-bytes.ts'
import { databaseFile } from './manifest.ts'
import { type OpenSnapshot, openSnapshot, type Trust } from './open.ts'
import { type EtcdPrograms, startScratch } from './temporary-etcd.ts'

export interface VerifyWorld {
  readonly trust: Trust
  /** Those of the release that a lock names. They are asked for once the snapshot is known to be whole. */
  readonly programs: (lock: string) => Promise<EtcdPrograms>
  /** An empty directory for its owner alone. Whoever made it removes it. */
  readonly directory: string
  readonly signal: AbortSignal
}

export interface Verified extends TakenOut {
  /** What the restored member has. */
  readonly found: KeyCount
}

export interface TakenOut extends Pick<OpenSnapshot, 'manifest' | 'small'> {
  /** Where the database is. */
  readonly file: string
}

/** Puts the database of a snapshot into a directory, and makes sure that the snapshot is whole and whose it is. */
export async function takeOut(
  bytes: AsyncIterable<Uint8Array>,
  { trust, directory, signal }: Omit<VerifyWorld, 'programs'>,
): Promise<TakenOut> {
  const { manifest, small, database } = await openSnapshot(bytes, trust)
  const file = join(directory, databaseFile)
  await writeNew(file, untilAborted(database, signal))
  return { manifest, small, file }
}

/** Makes sure that a snapshot is good: by what it says of itself, and by an etcd that is made from it. */
export async function verifySnapshot(
  bytes: AsyncIterable<Uint8Array>,
  { programs, ...world }: VerifyWorld,
): Promise<Verified> {
  const taken = await takeOut(bytes, world)
  const own = await programs(taken.small['cluster.lock'].toString('utf8'))
  return { ...taken, found: await tryOut(taken, own, world) }
}

/** Makes an etcd from what was taken out of a snapshot, and makes sure that it has what the snapshot says. */
export async function tryOut(
  { manifest, file }: TakenOut,
  programs: EtcdPrograms,
  { directory, signal }: Pick<VerifyWorld, 'directory' | 'signal'>,
): Promise<KeyCount> {
  await using member = await startScratch(programs, file, directory, signal)
  const found = await member.count()
  const then = found.revision < manifest.revision ? undefined : await member.count(manifest.revision)
  if (then?.keys === manifest.keys) return found
  const has =
    then === undefined
      ? `ends with revision ${found.revision}`
      : `has ${then.keys} keys as of revision ${manifest.revision}`
  const should =
    then === undefined
      ? `revision ${manifest.revision} was there when it was made`
      : `there were ${manifest.keys} when it was made`
  throw new HyperkubeError('SNAPSHOT_UNLIKE', `the restored etcd ${has}, and ${should}`, {
    component: 'etcd',
    hint: 'make another one: hyperkube etcd snapshot save; look at hyperkube etcd status first',
  })
}

async function* untilAborted(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal.throwIfAborted()
    yield chunk
  }
}
