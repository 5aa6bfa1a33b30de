import { createHash, type KeyObject } from 'node:crypto'
import { isSignedBy } from '../kit/signature.ts'
import { ByteReader } from '../bundle/tar.ts'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import {
  readSnapshotHeader,
  readVerifiedFile,
  type SnapshotHeader,
  snapshotManifestName,
  verifyTarEnd,
} from './archive.ts'
import { snapshotCorrupt, snapshotForeign } from './errors.ts'
import {
  databaseFile,
  type SmallFile,
  smallFiles,
  snapshotFormat,
  type SnapshotManifest,
} from './manifest.ts'

/** Decides which snapshots are trusted. */
export interface SnapshotTrust {
  /**
   * Id of the cluster that the snapshot must come from. If undefined, every cluster whose identity `open` can
   * open is accepted.
   */
  readonly id: string | undefined
  /** Opens a sealed identity. Returns the cluster id and the key that verifies snapshots of this cluster. */
  readonly open: (sealed: string) => Promise<SnapshotSigner>
}

export interface SnapshotSigner {
  readonly id: string
  readonly publicKey: KeyObject
}

/** A snapshot whose manifest and small files were verified to come from the cluster itself. */
export interface OpenSnapshot {
  readonly manifest: SnapshotManifest
  /** The sealed identity, cluster.yml and cluster.lock, by file name. */
  readonly small: Readonly<Record<SmallFile, Buffer>>
  /** Bytes of the database; can be read only once. Reading fails at the end if any byte of it has changed. */
  readonly database: AsyncIterable<Uint8Array>
}

/**
 * Reads a snapshot and verifies its origin. The proof is the sealed identity in the snapshot, because only
 * the owner of the sealing key can have sealed it. Verification needs only the snapshot and the sealing key,
 * and still works after CAs are renewed.
 */
export async function openSnapshot(
  bytes: AsyncIterable<Uint8Array>,
  trust: SnapshotTrust,
): Promise<OpenSnapshot> {
  const reader = new ByteReader(bytes)
  const header = await readSnapshotHeader(reader)
  const manifest = await verifyHeader(header, trust)
  return { manifest, small: header.small, database: readDatabase(reader, manifest) }
}

async function* readDatabase(reader: ByteReader, { files }: SnapshotManifest): AsyncGenerator<Uint8Array> {
  yield* readVerifiedFile(reader, databaseFile, files[databaseFile])
  await verifyTarEnd(reader)
}

/** Verifies a snapshot without keeping its content. */
export async function checkSnapshot(
  bytes: AsyncIterable<Uint8Array>,
  trust: SnapshotTrust,
): Promise<SnapshotManifest> {
  const { manifest, database } = await openSnapshot(bytes, trust)
  for await (const _ of database);
  return manifest
}

async function verifyHeader(
  { manifest: text, signature, small }: SnapshotHeader,
  trust: SnapshotTrust,
): Promise<SnapshotManifest> {
  const signer = await trust.open(small['cluster.identity'].toString('utf8')).catch((error: unknown) => {
    throw toOpenError(error)
  })
  if (trust.id !== undefined && trust.id !== signer.id) {
    throw snapshotForeign(`it belongs to the cluster id ${signer.id}, and this cluster has ${trust.id}`)
  }
  if (!isSignedBy(text, signature, signer.publicKey)) throw snapshotCorrupt('its signature is invalid')
  const manifest = parseManifest(text)
  for (const name of smallFiles) {
    const { size, sha256 } = manifest.files[name]
    const content = small[name]
    if (content.length !== size || createHash('sha256').update(content).digest('hex') !== sha256) {
      throw snapshotCorrupt(`the content of ${name}`)
    }
  }
  return manifest
}

function toOpenError(error: unknown): unknown {
  if (!(error instanceof HyperkubeError)) return error
  return error.code === 'IDENTITY_WRONG_KEY'
    ? snapshotForeign('its identity was sealed with another key', error)
    : snapshotCorrupt('its identity cannot be opened', error)
}

function parseManifest(text: Buffer): SnapshotManifest {
  let value: unknown
  try {
    value = JSON.parse(text.toString('utf8'))
  } catch {
    throw snapshotCorrupt(snapshotManifestName)
  }
  return readVersioned(snapshotFormat, value)
}
