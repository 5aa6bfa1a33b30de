import { rm, stat } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { run } from '../kit/command.ts'
import { notRestored } from './errors.ts'
import { fileBytes } from './file-bytes.ts'
import type { FileDigest } from './manifest.ts'
import type { EtcdPrograms } from './temporary-etcd.ts'

/** A member of an etcd that is made from a database. */
export interface Seat {
  readonly name: string
  readonly address: string
}

export interface MemberDataWish {
  /** Where it is. */
  readonly database: string
  /** All of them: each knows the others from its birth. */
  readonly members: readonly Seat[]
  /** Tells this etcd from any other with the same members. */
  readonly token: string
}

export interface MemberArchive extends FileDigest {
  readonly path: string
}

/**
 * So much later is all that is written from now on. Whoever watches the API remembers a revision: it must not come again
 * with something else behind it. etcd's own documents advise this much.
 */
export const revisionBump = 1_000_000_000

/** In etcd's own words: cp1=https://10.0.0.1:2380 */
export function seatText({ name, address }: Seat): string {
  return `${name}=${peerUrl(address)}`
}

function peerUrl(address: string): string {
  return `https://${address}:2380`
}

/** What a member shall have in its data directory, made with etcd's own program, in an archive. */
export async function memberArchive(
  { etcdutl }: EtcdPrograms,
  { database, members, token }: MemberDataWish,
  { name, address }: Seat,
  directory: string,
  signal: AbortSignal,
): Promise<MemberArchive> {
  const data = join(directory, `${name}.data`)
  const path = join(directory, `${name}.tar.gz`)
  const argv = [etcdutl, 'snapshot', 'restore', database, `--data-dir=${data}`, `--name=${name}`] as const
  const membership = [
    `--initial-cluster=${members.map(seatText).join(',')}`,
    `--initial-cluster-token=${token}`,
    `--initial-advertise-peer-urls=${peerUrl(address)}`,
  ]
  // All revisions of before count as compacted, so that whoever asks for one has to look at everything anew.
  const revision = [`--bump-revision=${revisionBump}`, '--mark-compacted']
  try {
    await run([...argv, ...membership, ...revision], { cwd: directory, env: {}, signal })
    await run(['tar', '-I', 'gzip -1', '-cf', path, '-C', data, 'member'], { cwd: directory, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw notRestored(error)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
  return { path, ...(await digestOf(path, signal)) }
}

async function digestOf(path: string, signal: AbortSignal): Promise<FileDigest> {
  const hash = createHash('sha256')
  for await (const chunk of fileBytes(path, signal)) hash.update(chunk)
  return { size: (await stat(path)).size, sha256: hash.digest('hex') }
}
