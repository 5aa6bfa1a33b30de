import type { ByteReader } from '../bundle/byte-reader.ts'
import { signatureSize } from '../bundle/signature.ts'
import { sizeIn, tarHeader } from '../bundle/tar.ts'
import { corrupt } from './errors.ts'
import type { SmallFile } from './manifest.ts'
import { passHeader, passPadding, takeAll } from './sections.ts'

/** What comes first in a snapshot, and what says that it may be believed. */
export const manifestName = 'snapshot.json'
export const signatureName = 'snapshot.sig'

/** In bytes. Nothing that stands before the database comes near it. */
const largest = 16 << 20

/** All but the database. Nothing of it is to be believed before it was proven. */
export interface Front {
  readonly manifest: Buffer
  readonly signature: Buffer
  readonly small: Readonly<Record<SmallFile, Buffer>>
}

export async function readFront(reader: ByteReader): Promise<Front> {
  const manifest = await wholeFile(reader, manifestName)
  await passHeader(reader, signatureName, signatureSize)
  const signature = await takeAll(reader, signatureSize, signatureName)
  await passPadding(reader, signatureName, signatureSize)
  const small = {
    'cluster.identity': await wholeFile(reader, 'cluster.identity'),
    'cluster.yml': await wholeFile(reader, 'cluster.yml'),
    'cluster.lock': await wholeFile(reader, 'cluster.lock'),
  }
  return { manifest, signature, small }
}

/** A file whose size only its header says. */
async function wholeFile(reader: ByteReader, name: string): Promise<Buffer> {
  const header = await takeAll(reader, tarHeader(name, 0).length, `the header of ${name}`)
  const size = sizeIn(header)
  if (!(size <= largest) || !header.equals(tarHeader(name, size))) {
    throw corrupt(name === manifestName ? 'it does not begin as a snapshot does' : `the header of ${name}`)
  }
  const content = await takeAll(reader, size, `the content of ${name}`)
  await passPadding(reader, name, size)
  return content
}
