import { createHash } from 'node:crypto'
import { formatLock } from '../../../catalog/lock.ts'
import type { Identity } from '../../../identity/identity.ts'
import { unsealIdentity } from '../../../identity/seal.ts'
import { parseKeyFile } from '../../../identity/sealing-key.ts'
import { buildSigningKey } from '../../../identity/signing-key.ts'
import { encodeSnapshot } from '../../../snapshot/archive.ts'
import type { SmallFile, SnapshotManifest } from '../../../snapshot/manifest.ts'
import { runHyperkube } from '../../testing/run-in-memory.ts'

/** Files of a test cluster after `init`, before the first `up`. */
export const clusterFiles = Object.fromEntries(
  (await runHyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
)
export const clusterKey = parseKeyFile(clusterFiles['/home/me/.config/hyperkube/keys/shop.key'] ?? '')
export const clusterIdentity = await unsealIdentity(clusterFiles['cluster.identity'] ?? '', clusterKey)
const lock = formatLock({
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Lock',
  kubernetes: '1.37.1',
  artifacts: [],
  images: {},
})
const database = Buffer.alloc(2048 + 32, 'x')

const buildDigest = (content: Buffer) => ({
  size: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

function buildSmallFiles(sealed: string): Readonly<Record<SmallFile, Buffer>> {
  return {
    'cluster.identity': Buffer.from(sealed),
    'cluster.yml': Buffer.from(clusterFiles['cluster.yml'] ?? ''),
    'cluster.lock': Buffer.from(lock),
  }
}

export function buildSnapshotManifest(
  owner: Identity,
  sealed = clusterFiles['cluster.identity'] ?? '',
): SnapshotManifest {
  const small = buildSmallFiles(sealed)
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'EtcdSnapshot',
    cluster: { name: 'shop', id: owner.id },
    created: '2026-11-15T12:00:00.000Z',
    versions: { hyperkube: '0.1.0', kubernetes: '1.37.1', etcd: '3.7.3' },
    member: { name: 'cp1', id: 'a' },
    revision: 5,
    keys: 3,
    files: {
      'cluster.identity': buildDigest(small['cluster.identity']),
      'cluster.yml': buildDigest(small['cluster.yml']),
      'cluster.lock': buildDigest(small['cluster.lock']),
      'etcd.db': buildDigest(database),
    },
  }
}

/** Builds a snapshot that the given identity has signed. */
export async function buildSnapshot(owner: Identity, sealed: string): Promise<Buffer> {
  const content = {
    manifest: buildSnapshotManifest(owner, sealed),
    small: buildSmallFiles(sealed),
    database: singleChunk(database),
  }
  return Buffer.concat(await Array.fromAsync(encodeSnapshot(content, buildSigningKey(owner).privateKey)))
}

async function* singleChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}
