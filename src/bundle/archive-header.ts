import type { KeyObject } from 'node:crypto'
import { readVersioned } from '../contract/versioned.ts'
import type { ByteReader } from './byte-reader.ts'
import { bundleDamaged, bundleNotTrusted } from './errors.ts'
import { type BundleManifest, bundleFormat } from './manifest.ts'
import { isSignedBy, signatureSize } from './signature.ts'
import { readTarSize, tarHeader, tarPadding, tarEntrySize } from './tar.ts'

/** File name of the manifest, the first file in a bundle. The signature follows as the second file. */
export const bundleManifestName = 'bundle.json'
export const bundleSignatureName = 'bundle.sig'

/** Maximum size of a manifest, far more than a large cluster needs. */
const maxManifestBytes = 16 << 20

export interface BundleHeader {
  readonly manifest: BundleManifest
  /** Size of manifest and signature in the archive, which is the offset of the first content file. */
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

/**
 * Throws unless the next tar header is exactly the one that hyperkube writes, so that no data can be hidden
 * in a header.
 */
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
