import { createHash } from 'node:crypto'
import type { ByteReader } from '../bundle/byte-reader.ts'
import { tarEnd, tarHeader, tarPadding } from '../bundle/tar.ts'
import { snapshotCorrupt, snapshotTruncated } from './errors.ts'
import type { FileDigest } from './manifest.ts'

/*
 * Readers for the parts of a snapshot. They accept only what hyperkube writes, so that nothing can be hidden
 * in a snapshot.
 */

export async function takeExactly(reader: ByteReader, size: number, part: string): Promise<Buffer> {
  const bytes = await reader.take(size)
  if (bytes.length < size) throw snapshotTruncated(part)
  return bytes
}

export async function verifyTarHeader(reader: ByteReader, name: string, size: number): Promise<void> {
  await expectBytes(reader, tarHeader(name, size), `the header of ${name}`)
}

export async function verifyTarPadding(reader: ByteReader, name: string, size: number): Promise<void> {
  await expectBytes(reader, tarPadding(size), `what follows ${name}`)
}

export async function verifyTarEnd(reader: ByteReader): Promise<void> {
  await expectBytes(reader, tarEnd, 'its end')
  if ((await reader.take(1)).length > 0) throw snapshotCorrupt('something follows its end')
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
