import { createHash, type KeyObject } from 'node:crypto'
import { ByteReader } from '../bundle/byte-reader.ts'
import { isSignedBy } from '../bundle/signature.ts'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { corrupt, foreign } from './errors.ts'
import { type Front, manifestName, readFront } from './archive-header.ts'
import {
  databaseFile,
  type SmallFile,
  smallFiles,
  snapshotFormat,
  type SnapshotManifest,
} from './manifest.ts'
import { passEnd, passFile } from './sections.ts'

/** Whose snapshots are taken for true. */
export interface Trust {
  /** The cluster that they must be of. Where nothing of it is left but a key: any whose identity the key opens. */
  readonly id: string | undefined
  /** Opens a sealed identity: whose it is, and what its snapshots are signed with. */
  readonly open: (sealed: string) => Promise<Signer>
}

export interface Signer {
  readonly id: string
  readonly publicKey: KeyObject
}

/** A snapshot that was made by the cluster itself. */
export interface OpenSnapshot {
  readonly manifest: SnapshotManifest
  /** By name: the sealed identity, cluster.yml and cluster.lock. */
  readonly small: Readonly<Record<SmallFile, Buffer>>
  /** To be read once. Fails at its end unless the snapshot is as it was made, to its last byte. */
  readonly database: AsyncIterable<Uint8Array>
}

/**
 * Reads what is in a snapshot, and makes sure whose it is. That is said by the identity inside it, which nobody can have
 * sealed but who has the key. So one file and one key are enough, and a snapshot stays good when authorities are renewed.
 */
export async function openSnapshot(bytes: AsyncIterable<Uint8Array>, trust: Trust): Promise<OpenSnapshot> {
  const reader = new ByteReader(bytes)
  const front = await readFront(reader)
  const manifest = await prove(front, trust)
  return { manifest, small: front.small, database: databaseIn(reader, manifest) }
}

async function* databaseIn(reader: ByteReader, { files }: SnapshotManifest): AsyncGenerator<Uint8Array> {
  yield* passFile(reader, databaseFile, files[databaseFile])
  await passEnd(reader)
}

/** The same for who wants to know that it is whole, and nothing else. */
export async function checkSnapshot(
  bytes: AsyncIterable<Uint8Array>,
  trust: Trust,
): Promise<SnapshotManifest> {
  const { manifest, database } = await openSnapshot(bytes, trust)
  for await (const _ of database);
  return manifest
}

async function prove({ manifest: text, signature, small }: Front, trust: Trust): Promise<SnapshotManifest> {
  const signer = await trust.open(small['cluster.identity'].toString('utf8')).catch((error: unknown) => {
    throw unopened(error)
  })
  if (trust.id !== undefined && trust.id !== signer.id) {
    throw foreign(`it is of one with the id ${signer.id}, and this one is ${trust.id}`)
  }
  if (!isSignedBy(text, signature, signer.publicKey)) throw corrupt('its signature does not fit')
  const manifest = manifestIn(text)
  for (const name of smallFiles) {
    const { size, sha256 } = manifest.files[name]
    const content = small[name]
    if (content.length !== size || createHash('sha256').update(content).digest('hex') !== sha256) {
      throw corrupt(`the content of ${name}`)
    }
  }
  return manifest
}

function unopened(error: unknown): unknown {
  if (!(error instanceof HyperkubeError)) return error
  return error.code === 'IDENTITY_WRONG_KEY'
    ? foreign('its identity was sealed with another key', error)
    : corrupt('the identity in it cannot be opened', error)
}

function manifestIn(text: Buffer): SnapshotManifest {
  let value: unknown
  try {
    value = JSON.parse(text.toString('utf8'))
  } catch {
    throw corrupt(manifestName)
  }
  return readVersioned(snapshotFormat, value)
}
