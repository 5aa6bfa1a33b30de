import { createHash, type KeyObject } from 'node:crypto'
import { signatureSize, signContent } from '../kit/signature.ts'
import { type ByteReader, readTarSize, tarEnd, tarFile, tarHeader, tarPadding } from '../bundle/tar.ts'
import { snapshotCorrupt, snapshotTruncated } from './errors.ts'
import {
  databaseFile,
  type FileDigest,
  formatSnapshotManifest,
  type SmallFile,
  smallFiles,
  type SnapshotManifest,
} from './manifest.ts'

/** Names of the first two files of a snapshot: the manifest and its signature. */
export const snapshotManifestName = 'snapshot.json'
const snapshotSignatureName = 'snapshot.sig'

/** Maximum size of each file before the database, in bytes. Real files are much smaller. */
const maxHeaderFileBytes = 16 << 20

/** All files before the database. They are not trusted until they are verified. */
export interface SnapshotHeader {
  readonly manifest: Buffer
  readonly signature: Buffer
  readonly small: Readonly<Record<SmallFile, Buffer>>
}

export async function readSnapshotHeader(reader: ByteReader): Promise<SnapshotHeader> {
  const manifest = await readSmallFile(reader, snapshotManifestName)
  await verifyTarHeader(reader, snapshotSignatureName, signatureSize)
  const signature = await takeExactly(reader, signatureSize, snapshotSignatureName)
  await verifyTarPadding(reader, snapshotSignatureName, signatureSize)
  const small = {
    'cluster.identity': await readSmallFile(reader, 'cluster.identity'),
    'cluster.yml': await readSmallFile(reader, 'cluster.yml'),
    'cluster.lock': await readSmallFile(reader, 'cluster.lock'),
  }
  return { manifest, signature, small }
}

/** Reads a file whose size is known only from its tar header. */
async function readSmallFile(reader: ByteReader, name: string): Promise<Buffer> {
  const header = await takeExactly(reader, tarHeader(name, 0).length, `the header of ${name}`)
  const size = readTarSize(header)
  if (!(size <= maxHeaderFileBytes) || !header.equals(tarHeader(name, size))) {
    throw snapshotCorrupt(
      name === snapshotManifestName ? 'it does not start like a snapshot' : `the header of ${name}`,
    )
  }
  const content = await takeExactly(reader, size, `the content of ${name}`)
  await verifyTarPadding(reader, name, size)
  return content
}

/*
 * The functions below read the parts of a snapshot. They accept only the exact bytes that hyperkube writes,
 * so that no other data can be hidden in a snapshot.
 */

async function takeExactly(reader: ByteReader, size: number, part: string): Promise<Buffer> {
  const bytes = await reader.take(size)
  if (bytes.length < size) throw snapshotTruncated(part)
  return bytes
}

async function verifyTarHeader(reader: ByteReader, name: string, size: number): Promise<void> {
  await expectBytes(reader, tarHeader(name, size), `the header of ${name}`)
}

async function verifyTarPadding(reader: ByteReader, name: string, size: number): Promise<void> {
  await expectBytes(reader, tarPadding(size), `the padding after ${name}`)
}

export async function verifyTarEnd(reader: ByteReader): Promise<void> {
  await expectBytes(reader, tarEnd, 'its end')
  if ((await reader.take(1)).length > 0) throw snapshotCorrupt('extra data after its end')
}

/** Yields the bytes of a file in the archive. Fails at the end if the size or digest differs. */
export async function* readVerifiedFile(
  reader: ByteReader,
  name: string,
  { size, sha256 }: FileDigest,
): AsyncGenerator<Uint8Array> {
  await verifyTarHeader(reader, name, size)
  const hash = createHash('sha256')
  let received = 0
  for await (const piece of reader.upTo(size)) {
    hash.update(piece)
    received += piece.length
    yield piece
  }
  if (received < size) throw snapshotTruncated(`the content of ${name}`)
  if (hash.digest('hex') !== sha256) throw snapshotCorrupt(`the content of ${name}`)
  await verifyTarPadding(reader, name, size)
}

async function expectBytes(reader: ByteReader, expected: Buffer, part: string): Promise<void> {
  if (!(await takeExactly(reader, expected.length, part)).equals(expected)) throw snapshotCorrupt(part)
}

interface SnapshotContent {
  readonly manifest: SnapshotManifest
  readonly small: Readonly<Record<SmallFile, Buffer>>
  readonly database: AsyncIterable<Uint8Array>
}

/** Encodes a snapshot as a tar archive. The same content always gives the same bytes. */
export async function* encodeSnapshot(
  { manifest, small, database }: SnapshotContent,
  privateKey: KeyObject,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(formatSnapshotManifest(manifest))
  yield* tarFile(snapshotManifestName, text)
  yield* tarFile(snapshotSignatureName, signContent(text, privateKey))
  for (const name of smallFiles) yield* tarFile(name, small[name])
  const { size } = manifest.files[databaseFile]
  yield tarHeader(databaseFile, size)
  yield* database
  yield tarPadding(size)
  yield tarEnd
}
