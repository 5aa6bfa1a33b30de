import type { KeyObject } from 'node:crypto'
import { readVersioned } from '../contract/versioned.ts'
import type { ByteReader } from './byte-reader.ts'
import { bundleDamaged, bundleNotTrusted } from './errors.ts'
import { type BundleManifest, bundleFormat } from './manifest.ts'
import { isSignedBy, signatureSize } from './signature.ts'
import { readTarSize, tarHeader, tarPadding, tarEntrySize } from './tar.ts'

/** Names of the first two files in a bundle: the manifest and its signature. */
export const bundleManifestName = 'bundle.json'
export const bundleSignatureName = 'bundle.sig'

/** More than any cluster needs. */
const maxManifestBytes = 16 << 20

export interface BundleHeader {
  readonly manifest: BundleManifest
  /** Offset of the first file. */
  readonly size: number
}

/** Reads the manifest of a bundle. With a key, the signature is verified before the manifest is parsed. */
export async function readBundleHeader(
  reader: ByteReader,
  key: KeyObject | undefined,
): Promise<BundleHeader> {
  const header = await reader.take(tarHeader(bundleManifestName, 0).length)
  const size = readTarSize(header)
  if (!(size <= maxManifestBytes) || !header.equals(tarHeader(bundleManifestName, size))) {
    throw bundleDamaged('it does not begin as a bundle does')
  }
  const text = await reader.take(size)
  await expectTarPadding(reader, bundleManifestName, size)
  await expectTarHeader(reader, bundleSignatureName, signatureSize)
  const signature = await reader.take(signatureSize)
  await expectTarPadding(reader, bundleSignatureName, signatureSize)
  if (key !== undefined && !isSignedBy(text, signature, key)) throw bundleNotTrusted()
  return { manifest: parseManifest(text), size: tarEntrySize(size) + tarEntrySize(signatureSize) }
}

/** Accepts only the exact header that we write, so that nothing can be hidden in one. */
export async function expectTarHeader(reader: ByteReader, name: string, size: number): Promise<void> {
  const expected = tarHeader(name, size)
  if (!(await reader.take(expected.length)).equals(expected)) throw bundleDamaged(`the header of ${name}`)
}

export async function expectTarPadding(reader: ByteReader, name: string, size: number): Promise<void> {
  const expected = tarPadding(size)
  if (!(await reader.take(expected.length)).equals(expected)) throw bundleDamaged(`what follows ${name}`)
}

function parseManifest(text: Buffer): BundleManifest {
  let value: unknown
  try {
    value = JSON.parse(text.toString('utf8'))
  } catch {
    throw bundleDamaged(bundleManifestName)
  }
  return readVersioned(bundleFormat, value)
}
