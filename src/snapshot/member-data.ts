import { createHash } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileBytes } from '../kit/files.ts'
import { runProgram } from '../kit/command.ts'
import { snapshotNotRestored } from './errors.ts'
import type { FileDigest } from './manifest.ts'
import type { EtcdPrograms } from './temporary-etcd.ts'

/** A member of an etcd cluster that is restored from a database. */
export interface EtcdPeer {
  readonly name: string
  readonly address: string
}

export interface MemberDataOptions {
  /** Path of the database. */
  readonly database: string
  /** All members of the new etcd cluster. */
  readonly members: readonly EtcdPeer[]
  /**
   * Cluster token of etcd. It distinguishes this etcd cluster from another etcd cluster with the same
   * members.
   */
  readonly token: string
}

export interface MemberDataArchive extends FileDigest {
  readonly path: string
}

/**
 * Number that is added to the revision at a restore. API clients remember revisions, so a revision must not
 * appear again with different content. The etcd documentation recommends this number.
 */
export const revisionBump = 1_000_000_000

/** Formats a member for --initial-cluster: cp1=https://10.0.0.1:2380 */
export function formatEtcdPeer({ name, address }: EtcdPeer): string {
  return `${name}=${buildPeerUrl(address)}`
}

function buildPeerUrl(address: string): string {
  return `https://${address}:2380`
}

/** Creates the data directory of a member with etcdutl and packs it into an archive. */
export async function buildMemberArchive(
  { etcdutl }: EtcdPrograms,
  { database, members, token }: MemberDataOptions,
  { name, address }: EtcdPeer,
  directory: string,
  signal: AbortSignal,
): Promise<MemberDataArchive> {
  const data = join(directory, `${name}.data`)
  const path = join(directory, `${name}.tar.gz`)
  const argv = [etcdutl, 'snapshot', 'restore', database, `--data-dir=${data}`, `--name=${name}`] as const
  const membership = [
    `--initial-cluster=${members.map(formatEtcdPeer).join(',')}`,
    `--initial-cluster-token=${token}`,
    `--initial-advertise-peer-urls=${buildPeerUrl(address)}`,
  ]
  // These flags mark all previous revisions as compacted, so that watchers must list everything again.
  const revision = [`--bump-revision=${revisionBump}`, '--mark-compacted']
  try {
    await runProgram([...argv, ...membership, ...revision], { cwd: directory, env: {}, signal })
    await runProgram(['tar', '-I', 'gzip -1', '-cf', path, '-C', data, 'member'], { cwd: directory, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw snapshotNotRestored(error)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
  return { path, ...(await computeFileDigest(path, signal)) }
}

async function computeFileDigest(path: string, signal: AbortSignal): Promise<FileDigest> {
  const hash = createHash('sha256')
  for await (const chunk of readFileBytes(path, signal)) hash.update(chunk)
  return { size: (await stat(path)).size, sha256: hash.digest('hex') }
}
