import { createHash } from 'node:crypto'
import type { ByteReader } from '../bundle/byte-reader.ts'
import { tarEnd, tarHeader, tarPadding } from '../bundle/tar.ts'
import { corrupt, truncated } from './errors.ts'
import type { FileDigest } from './manifest.ts'

/* What a snapshot is made of, read as strictly as it was written, so that nothing can hide in it. */

export async function takeAll(reader: ByteReader, size: number, what: string): Promise<Buffer> {
  const bytes = await reader.take(size)
  if (bytes.length < size) throw truncated(what)
  return bytes
}

export async function passHeader(reader: ByteReader, name: string, size: number): Promise<void> {
  await pass(reader, tarHeader(name, size), `the header of ${name}`)
}

export async function passPadding(reader: ByteReader, name: string, size: number): Promise<void> {
  await pass(reader, tarPadding(size), `what follows ${name}`)
}

export async function passEnd(reader: ByteReader): Promise<void> {
  await pass(reader, tarEnd, 'its end')
  if ((await reader.take(1)).length > 0) throw corrupt('something follows its end')
}

/** A file with its frame. Its bytes are given on; they end with an error when they were not those of the file. */
export async function* passFile(
  reader: ByteReader,
  name: string,
  { size, sha256 }: FileDigest,
): AsyncGenerator<Uint8Array> {
  await passHeader(reader, name, size)
  const hash = createHash('sha256')
  let seen = 0
  for await (const piece of reader.upTo(size)) {
    hash.update(piece)
    seen += piece.length
    yield piece
  }
  if (seen < size) throw truncated(`the content of ${name}`)
  if (hash.digest('hex') !== sha256) throw corrupt(`the content of ${name}`)
  await passPadding(reader, name, size)
}

async function pass(reader: ByteReader, expected: Buffer, what: string): Promise<void> {
  if (!(await takeAll(reader, expected.length, what)).equals(expected)) throw corrupt(what)
}
