import { join } from 'node:path'
import type { KeyCount } from '../etcd/member.ts'
import { writeNewFile } from '../kit/files.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { stopWhenAborted } from '../kit/stop-when-aborted.ts'
import { databaseFile } from './manifest.ts'
import { type OpenSnapshot, openSnapshot, type SnapshotTrust } from './open.ts'
import { type EtcdPrograms, startTemporaryEtcd } from './temporary-etcd.ts'

export interface VerifySnapshotDeps {
  readonly trust: SnapshotTrust
  /**
   * Provides the etcd programs that cluster.lock pins. Called after the whole snapshot was read and verified.
   */
  readonly programs: (lock: string) => Promise<EtcdPrograms>
  /** An empty private directory. The caller removes it. */
  readonly directory: string
  readonly signal: AbortSignal
}

export interface SnapshotVerification extends ExtractedSnapshot {
  /** Number of keys and revision of the restored etcd. */
  readonly found: KeyCount
}

export interface ExtractedSnapshot extends Pick<OpenSnapshot, 'manifest' | 'small'> {
  /** Path of the database. */
  readonly file: string
}

/** Verifies a snapshot and writes its database into the directory. */
export async function extractSnapshot(
  bytes: AsyncIterable<Uint8Array>,
  { trust, directory, signal }: Omit<VerifySnapshotDeps, 'programs'>,
): Promise<ExtractedSnapshot> {
  const { manifest, small, database } = await openSnapshot(bytes, trust)
  const file = join(directory, databaseFile)
  await writeNewFile(file, stopWhenAborted(database, signal))
  return { manifest, small, file }
}

/** Verifies a snapshot and restores it into a temporary etcd as a test. */
export async function verifySnapshot(
  bytes: AsyncIterable<Uint8Array>,
  { programs, ...deps }: VerifySnapshotDeps,
): Promise<SnapshotVerification> {
  const extracted = await extractSnapshot(bytes, deps)
  const lockedPrograms = await programs(extracted.small['cluster.lock'].toString('utf8'))
  return { ...extracted, found: await testRestore(extracted, lockedPrograms, deps) }
}

/** Restores an extracted snapshot into a temporary etcd and compares the key count with the manifest. */
export async function testRestore(
  { manifest, file }: ExtractedSnapshot,
  programs: EtcdPrograms,
  { directory, signal }: Pick<VerifySnapshotDeps, 'directory' | 'signal'>,
): Promise<KeyCount> {
  await using member = await startTemporaryEtcd(programs, file, directory, signal)
  const found = await member.countKeys()
  const atRevision =
    found.revision < manifest.revision ? undefined : await member.countKeys(manifest.revision)
  if (atRevision?.keys === manifest.keys) return found
  const actualText =
    atRevision === undefined
      ? `ends with revision ${found.revision}`
      : `has ${atRevision.keys} keys at revision ${manifest.revision}`
  const expectedText =
    atRevision === undefined
      ? `the snapshot was made at revision ${manifest.revision}`
      : `the snapshot was made with ${manifest.keys} keys`
  throw new HyperkubeError('SNAPSHOT_MISMATCH', `the restored etcd ${actualText}, but ${expectedText}`, {
    component: 'etcd',
    hint: 'check etcd: hyperkube etcd status; then save another snapshot: hyperkube etcd snapshot save',
  })
}
