import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabasePiece } from '../../etcd/database-pieces.ts'
import type { EtcdObservation } from '../../etcd/member.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SnapshotTrust } from '../open.ts'
import type { SnapshotSpec } from '../save.ts'

/** Signing key of the test cluster. */
export const snapshotKeys = generateKeyPairSync('ed25519')
export const snapshotCluster = { name: 'shop', id: '2f4b6f6e-8d5c-4a4e-9b0a-1c2d3e4f5a6b' }
const sealed = '{"sealed": true}\n'

export const testTrust: SnapshotTrust = {
  id: snapshotCluster.id,
  async open(text) {
    if (text === sealed) return { id: snapshotCluster.id, publicKey: snapshotKeys.publicKey }
    throw new HyperkubeError('IDENTITY_DAMAGED', 'the sealed identity was changed after it was written')
  },
}

export const snapshotSpec: SnapshotSpec = {
  cluster: snapshotCluster,
  versions: { hyperkube: '0.1.0', kubernetes: '1.37.1' },
  small: {
    'cluster.identity': Buffer.from(sealed),
    'cluster.yml': Buffer.from('kind: Cluster\n'),
    'cluster.lock': Buffer.from('kind: Lock\n'),
  },
  privateKey: snapshotKeys.privateKey,
  created: new Date('2026-11-15T12:00:00Z'),
}

/** Builds a database with `blocks` blocks and etcd's digest at its end. */
export function buildDatabase(blocks: number): Buffer {
  const content = Buffer.alloc(blocks * 512, 'etcd')
  return Buffer.concat([content, createHash('sha256').update(content).digest()])
}

/** Yields a database in pieces, as etcd sends it. `remaining` does not include the digest. */
export async function* splitIntoPieces(database: Buffer, size: number): AsyncGenerator<DatabasePiece> {
  for (let at = 0; at < database.length; at += size) {
    const bytes = database.subarray(at, at + size)
    yield { bytes, remaining: Math.max(0, database.length - 32 - at - bytes.length) }
  }
}

export interface ObservedMemberFixture {
  readonly id: string
  readonly isLeader?: boolean
  readonly ready?: boolean
  readonly live?: boolean
  readonly learner?: boolean
  readonly index?: number
}

export function buildMemberObservation(...members: readonly ObservedMemberFixture[]): EtcdObservation {
  const leader = members.find(({ isLeader }) => isLeader)?.id
  return {
    clusterId: '3',
    confirmed: true,
    alarms: [],
    members: members.map(({ id, learner = false }) => ({
      id,
      name: `host-${id}`,
      peerUrls: [`https://${id}:2380`],
      clientUrls: [`https://${id}:2379`],
      learner,
    })),
    health: new Map(
      members.map(({ id, ready = true, live = true }) => [
        id,
        { live, ready: live && ready, failing: [], reason: undefined },
      ]),
    ),
    statuses: new Map(
      members.map(({ id, learner = false, index = 10 }) => [
        id,
        {
          id,
          clusterId: '3',
          version: '3.7.3',
          leader,
          learner,
          raftIndex: index,
          raftAppliedIndex: index,
          raftTerm: 2,
          size: 4096,
          sizeInUse: 4096,
          quota: undefined,
          errors: [],
        },
      ]),
    ),
  }
}

export async function createSnapshotDirectory(): Promise<
  AsyncDisposable & { readonly at: (name: string) => string }
> {
  const directory = await mkdtemp(join(tmpdir(), 'snapshot-test-'))
  return {
    at: (name) => join(directory, name),
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true, force: true }),
  }
}
