import { createHash, type KeyObject } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { EtcdClient } from '../etcd/client.ts'
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

/**
 * Takes a snapshot into a new file. How large the database is, and its digest, are known once it has come: so it comes
 * into a file of its own first.
 */
export async function saveSnapshot(
  file: string,
  wish: SaveWish,
  { client, observed, progress, signal }: SaveWorld,
): Promise<SnapshotManifest> {
  const { member, endpoint, version } = pickMember(observed)
  const { revision, keys } = await client.countKeys(endpoint, { signal })
  const part = `${file}.db`
  try {
    const digest = await writeNew(part, databaseBytes(client.database(endpoint, { signal }), progress))
    const about = { member: { name: member.name, id: member.id }, etcd: version, revision, keys }
    return await wrapDatabase(file, wish, { file: part, digest, ...about }, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw notWritten(file, error)
  } finally {
    await rm(part, { force: true })
  }
}

/** A database that is here, with all that is known of it. */
export interface Database extends Pick<SnapshotManifest, 'member' | 'revision' | 'keys'> {
  readonly file: string
  readonly digest: FileDigest
  /** The version of etcd that it is of. */
  readonly etcd: string
}

/** Makes a snapshot of it, in a new file. */
export async function wrapDatabase(
  file: string,
  { cluster, created, versions, small, privateKey }: SaveWish,
  { file: part, digest, etcd, member, revision, keys }: Database,
  signal: AbortSignal,
): Promise<SnapshotManifest> {
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
      [databaseFile]: digest,
    },
  }
  await writeNew(file, snapshotBytes({ manifest, small, database: fileBytes(part, signal) }, privateKey))
  return manifest
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
