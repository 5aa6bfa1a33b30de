import { createHash, type KeyObject } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { EtcdClient } from '../etcd/client.ts'
import type { DatabasePiece } from '../etcd/database-pieces.ts'
import type { Observation } from '../etcd/member.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { databaseBytes } from './database.ts'
import { fileBytes, writeNew } from './file-bytes.ts'
import { databaseFile, type FileDigest, type SmallFile, type SnapshotManifest } from './manifest.ts'
import { pickMember } from './pick-member.ts'
import { snapshotBytes } from './write.ts'

export interface SaveWish {
  readonly cluster: SnapshotManifest['cluster']
  readonly versions: Omit<SnapshotManifest['versions'], 'etcd'>
  readonly small: Readonly<Record<SmallFile, Buffer>>
  readonly privateKey: KeyObject
  readonly created: Date
}

export interface SaveWorld {
  readonly client: Pick<EtcdClient, 'countKeys' | 'database'>
  readonly observed: Observation
  /** Hears how many bytes of the database have come, of how many. */
  readonly progress: (done: number, total: number) => void
  readonly signal: AbortSignal
}

/** From a member of etcd, into a new file. */
export async function saveSnapshot(
  file: string,
  wish: SaveWish,
  { client, observed, progress, signal }: SaveWorld,
): Promise<SnapshotManifest> {
  const { member, endpoint, version } = pickMember(observed)
  const { revision, keys } = await client.countKeys(endpoint, { signal })
  const about = { member: { name: member.name, id: member.id }, etcd: version, revision, keys }
  const pieces = client.database(endpoint, { signal })
  return writeSnapshot(file, wish, { pieces, about: async () => about, progress, signal })
}

/** What is known of a database beside its bytes. */
export interface AboutDatabase extends Pick<SnapshotManifest, 'member' | 'revision' | 'keys'> {
  /** The version of etcd that it is of. */
  readonly etcd: string
}

export interface DatabaseWorld extends Pick<SaveWorld, 'progress' | 'signal'> {
  readonly pieces: AsyncIterable<DatabasePiece>
  /** Asked once it has come as a whole, with the file that it is in. */
  readonly about: (file: string) => Promise<AboutDatabase>
}

/**
 * Makes a snapshot of a database, in a new file. How large that is, and its digest, are known once it has come: so it comes
 * into a file of its own first.
 */
export async function writeSnapshot(
  file: string,
  { cluster, created, versions, small, privateKey }: SaveWish,
  { pieces, about, progress, signal }: DatabaseWorld,
): Promise<SnapshotManifest> {
  const part = `${file}.db`
  try {
    const database = await writeNew(part, databaseBytes(pieces, progress))
    const { etcd, member, revision, keys } = await about(part)
    const manifest: SnapshotManifest = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'EtcdSnapshot',
      cluster,
      created: created.toISOString(),
      versions: { ...versions, etcd },
      member,
      revision,
      keys,
      files: {
        'cluster.identity': digestOf(small['cluster.identity']),
        'cluster.yml': digestOf(small['cluster.yml']),
        'cluster.lock': digestOf(small['cluster.lock']),
        [databaseFile]: database,
      },
    }
    const content = fileBytes(part, signal)
    await writeNew(file, snapshotBytes({ manifest, small, database: content }, privateKey))
    return manifest
  } catch (error) {
    signal.throwIfAborted()
    throw notWritten(file, error)
  } finally {
    await rm(part, { force: true })
  }
}

function digestOf(content: Buffer): FileDigest {
  return { size: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

/** What the disk says becomes an error that names the file. */
function notWritten(file: string, cause: unknown): unknown {
  if (cause instanceof HyperkubeError) return cause
  return new HyperkubeError('SNAPSHOT_NOT_WRITTEN', `${file} could not be written`, {
    hint: 'is there room, and may you write there? --to names another directory',
    cause,
  })
}
