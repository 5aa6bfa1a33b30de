import { createHash } from 'node:crypto'
import { lockText } from '../../../catalog/lock.ts'
import { bundleKey } from '../../../identity/bundle-key.ts'
import type { Identity } from '../../../identity/identity.ts'
import { parseKeyFile } from '../../../identity/sealing-key.ts'
import { open } from '../../../identity/seal.ts'
import type { SmallFile, SnapshotManifest } from '../../../snapshot/manifest.ts'
import { snapshotBytes } from '../../../snapshot/write.ts'
import { hyperkube } from '../../testing/run-in-memory.ts'

/** For tests: the files of a cluster that was never brought up. */
export const made = Object.fromEntries(
  (await hyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
)
export const key = parseKeyFile(made['/home/me/.config/hyperkube/keys/shop.key'] ?? '')
export const identity = await open(made['cluster.identity'] ?? '', key)
const lock = lockText({
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Lock',
  kubernetes: '1.37.1',
  artifacts: [],
  images: {},
})
const database = Buffer.alloc(2048 + 32, 'x')

const digest = (content: Buffer) => ({
  size: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

function smallOf(sealed: string): Readonly<Record<SmallFile, Buffer>> {
  return {
    'cluster.identity': Buffer.from(sealed),
    'cluster.yml': Buffer.from(made['cluster.yml'] ?? ''),
    'cluster.lock': Buffer.from(lock),
  }
}

export function manifestOf(owner: Identity, sealed = made['cluster.identity'] ?? ''): SnapshotManifest {
  const small = smallOf(sealed)
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
      'cluster.identity': digest(small['cluster.identity']),
      'cluster.yml': digest(small['cluster.yml']),
      'cluster.lock': digest(small['cluster.lock']),
      'etcd.db': digest(database),
    },
  }
}

/** A snapshot as this identity makes it. */
export async function snapshotOf(owner: Identity, sealed: string): Promise<Buffer> {
  const content = { manifest: manifestOf(owner, sealed), small: smallOf(sealed), database: chunk(database) }
  return Buffer.concat(await Array.fromAsync(snapshotBytes(content, bundleKey(owner).privateKey)))
}

async function* chunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}
