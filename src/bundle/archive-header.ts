import type { KeyObject } from 'node:crypto'
import { readVersioned } from '../contract/versioned.ts'
import type { ByteReader } from './byte-reader.ts'
import { damaged, notTrusted } from './errors.ts'
import { type BundleManifest, bundleFormat } from './manifest.ts'
import { isSignedBy, signatureSize } from './signature.ts'
import { sizeIn, tarHeader, tarPadding, tarSpace } from './tar.ts'

/** What comes first in a bundle, and what says that it may be believed. */
export const manifestName = 'bundle.json'
export const signatureName = 'bundle.sig'

/** No cluster needs so many files. */
const largestManifest = 16 << 20

export interface Front {
  readonly manifest: BundleManifest
  /** Where the first file begins. */
  readonly size: number
}

/** Reads what is in a bundle. With a key it is believed only when signed by it; it is not looked at before. */
export async function readFront(reader: ByteReader, key: KeyObject | undefined): Promise<Front> {
  const header = await reader.take(tarHeader(manifestName, 0).length)
  const size = sizeIn(header)
  if (!(size <= largestManifest) || !header.equals(tarHeader(manifestName, size))) {
    throw damaged('it does not begin as a bundle does')
  }
  const text = await reader.take(size)
  await passPadding(reader, manifestName, size)
  await passHeader(reader, signatureName, signatureSize)
  const signature = await reader.take(signatureSize)
  await passPadding(reader, signatureName, signatureSize)
  if (key !== undefined && !isSignedBy(text, signature, key)) throw notTrusted()
  return { manifest: read(text), size: tarSpace(size) + tarSpace(signatureSize) }
}

/** Only the very header that we write, so that nothing can hide in one. */
export async function passHeader(reader: ByteReader, name: string, size: number): Promise<void> {
  const expected = tarHeader(name, size)
  if (!(await reader.take(expected.length)).equals(expected)) throw damaged(`the header of ${name}`)
}

export async function passPadding(reader: ByteReader, name: string, size: number): Promise<void> {
  const expected = tarPadding(size)
  if (!(await reader.take(expected.length)).equals(expected)) throw damaged(`what follows ${name}`)
}

function read(text: Buffer): BundleManifest {
  let value: unknown
  try {
    value = JSON.parse(text.toString('utf8'))
  } catch {
    throw damaged(manifestName)
  }
  return readVersioned(bundleFormat, value)
}
