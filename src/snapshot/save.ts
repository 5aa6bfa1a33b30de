import { createHash, type KeyObject } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { EtcdClient } from '../etcd/client.ts'
import type { DatabasePiece } from '../etcd/database-pieces.ts'
import { EtcdError } from '../etcd/etcd-error.ts'
import type { EtcdMember, EtcdObservation } from '../etcd/member.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { readFileBytes, writeNewFile } from '../kit/files.ts'
import { encodeSnapshot } from './archive.ts'
import { streamDatabase } from './database.ts'
import { databaseFile, type FileDigest, type SmallFile, type SnapshotManifest } from './manifest.ts'

export interface SnapshotSpec {
  readonly cluster: SnapshotManifest['cluster']
  readonly versions: Omit<SnapshotManifest['versions'], 'etcd'>
  readonly small: Readonly<Record<SmallFile, Buffer>>
  readonly privateKey: KeyObject
  readonly created: Date
}

export interface SaveSnapshotDeps {
  readonly client: Pick<EtcdClient, 'countKeys' | 'database'>
  readonly observed: EtcdObservation
  /** Called with the number of received bytes and the total. */
  readonly progress: (done: number, total: number) => void
  readonly signal: AbortSignal
}

/** Saves the database of an etcd member as a snapshot in a new file. */
export async function saveSnapshot(
  file: string,
  spec: SnapshotSpec,
  { client, observed, progress, signal }: SaveSnapshotDeps,
): Promise<SnapshotManifest> {
  const { member, endpoint, version } = pickMember(observed)
  const { revision, keys } = await client.countKeys(endpoint, { signal })
  const details = { member: { name: member.name, id: member.id }, etcd: version, revision, keys }
  const pieces = client.database(endpoint, { signal })
  return writeSnapshot(file, spec, { pieces, details: async () => details, progress, signal })
}

/** Properties of a database that the manifest contains. */
export interface DatabaseDetails extends Pick<SnapshotManifest, 'member' | 'revision' | 'keys'> {
  /** Version of etcd. */
  readonly etcd: string
}

export interface WriteSnapshotDeps extends Pick<SaveSnapshotDeps, 'progress' | 'signal'> {
  readonly pieces: AsyncIterable<DatabasePiece>
  /** Returns the properties of the database. Called with the path of the complete database. */
  readonly details: (file: string) => Promise<DatabaseDetails>
}

/**
 * Writes a snapshot into a new file. The manifest with size and digest precedes the database, so the database
 * is first written into a file of its own.
 */
export async function writeSnapshot(
  file: string,
  { cluster, created, versions, small, privateKey }: SnapshotSpec,
  { pieces, details, progress, signal }: WriteSnapshotDeps,
): Promise<SnapshotManifest> {
  const databasePath = `${file}.db`
  try {
    const database = await writeNewFile(databasePath, streamDatabase(pieces, progress))
    const { etcd, member, revision, keys } = await details(databasePath)
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
        'cluster.identity': computeContentDigest(small['cluster.identity']),
        'cluster.yml': computeContentDigest(small['cluster.yml']),
        'cluster.lock': computeContentDigest(small['cluster.lock']),
        [databaseFile]: database,
      },
    }
    const content = readFileBytes(databasePath, signal)
    await writeNewFile(file, encodeSnapshot({ manifest, small, database: content }, privateKey))
    return manifest
  } catch (error) {
    signal.throwIfAborted()
    throw toWriteError(file, error)
  } finally {
    await rm(databasePath, { force: true })
  }
}

function computeContentDigest(content: Buffer): FileDigest {
  return { size: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

/** Wraps a disk error in an error that names the file. */
function toWriteError(file: string, cause: unknown): unknown {
  if (cause instanceof HyperkubeError) return cause
  return new HyperkubeError('SNAPSHOT_NOT_WRITTEN', `cannot write ${file}`, {
    hint: 'check disk space and permissions of the directory, or use another one: --to DIRECTORY',
    cause,
  })
}

interface MemberSource {
  readonly member: EtcdMember
  readonly endpoint: string
  readonly version: string
}

/**
 * Picks the member whose database is saved. A ready member is preferred, then a member that is not the
 * leader, then the member with the highest applied index. Without a quorum no member is ready, so only the
 * other two rules apply.
 */
export function pickMember({ members, health, statuses }: EtcdObservation): MemberSource {
  const candidates = members.flatMap((member) => {
    const [status, { live = false, ready = false } = {}] = [statuses.get(member.id), health.get(member.id)]
    const [endpoint] = member.clientUrls
    if (!live || status === undefined || endpoint === undefined || member.learner) return []
    const isLeader = status.leader === member.id
    const source = { member, endpoint, version: status.version }
    return [{ source, rank: [Number(ready), Number(!isLeader), status.raftAppliedIndex] }]
  })
  const [best] = candidates.toSorted((a, b) => compareRanks(b.rank, a.rank))
  if (best !== undefined) return best.source
  throw new EtcdError('ETCD_UNREACHABLE', 'no reachable etcd member can provide its database', {
    hint: 'hyperkube etcd status',
  })
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const differences = a.map((value, index) => value - (b[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}
