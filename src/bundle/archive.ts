import { createHash, type KeyObject } from 'node:crypto'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { bundleFormat, type BundleManifest, type BundleMember, formatBundleManifest } from './manifest.ts'
import { isSignedBy, signatureSize, signContent } from '../kit/signature.ts'
import { ByteReader, readTarSize, tarEnd, tarEntrySize, tarFile, tarHeader, tarPadding } from './tar.ts'

/** File name of the manifest, the first file in a bundle. The signature follows as the second file. */
const bundleManifestName = 'bundle.json'
const bundleSignatureName = 'bundle.sig'

/** Maximum size of a manifest, far more than a large cluster needs. */
const maxManifestBytes = 16 << 20

interface BundleHeader {
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
    throw bundleDamaged('it does not start like a bundle')
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
async function expectTarHeader(reader: ByteReader, name: string, size: number): Promise<void> {
  const expected = tarHeader(name, size)
  if (!(await reader.take(expected.length)).equals(expected)) throw bundleDamaged(`the header of ${name}`)
}

async function expectTarPadding(reader: ByteReader, name: string, size: number): Promise<void> {
  const expected = tarPadding(size)
  if (!(await reader.take(expected.length)).equals(expected)) throw bundleDamaged(`the padding after ${name}`)
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

/**
 * Reads a bundle once from start to end and verifies every byte. The error names the first part that does not
 * match.
 */
export async function verifyBundle(
  bytes: AsyncIterable<Uint8Array>,
  key: KeyObject,
  onMember: (member: BundleMember) => void = () => undefined,
): Promise<BundleManifest> {
  const reader = new ByteReader(bytes)
  const { manifest } = await readBundleHeader(reader, key)
  for (const member of manifest.members) {
    const { path, size, sha256 } = member
    await expectTarHeader(reader, path, size)
    const hash = createHash('sha256')
    for await (const piece of reader.upTo(size)) hash.update(piece)
    if (hash.digest('hex') !== sha256) throw bundleDamaged(`the content of ${path}`)
    await expectTarPadding(reader, path, size)
    onMember(member)
  }
  if (!(await reader.take(tarEnd.length)).equals(tarEnd)) throw bundleDamaged('its end')
  if ((await reader.take(1)).length > 0) throw bundleDamaged('extra data after its end')
  return manifest
}

/** Streams the bytes of a bundle. The same content always gives the same bytes. */
export async function* streamBundle(
  manifest: BundleManifest,
  privateKey: KeyObject,
  open: (member: BundleMember) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(formatBundleManifest(manifest))
  yield* tarFile(bundleManifestName, text)
  yield* tarFile(bundleSignatureName, signContent(text, privateKey))
  for (const member of manifest.members) yield* tarEntry(member, verifyDigest(member, open(member)))
  yield tarEnd
}

/** Yields an archive entry. The caller guarantees that the content has the stated size. */
export async function* tarEntry(
  { path, size }: BundleMember,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield tarHeader(path, size)
  yield* content
  yield tarPadding(size)
}

/** Passes bytes through and throws at the end if their digest is not `sha256`. */
export async function* verifyDigest(
  { path, sha256 }: Pick<BundleMember, 'path' | 'sha256'>,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== sha256) throw bundleDamaged(`the content of ${path}`)
}

function bundleDamaged(what: string): HyperkubeError {
  return new HyperkubeError('BUNDLE_DAMAGED', `the bundle is damaged: ${what}`, {
    hint: 'copy the bundle again, then check it: hyperkube bundle verify FILE',
  })
}

function bundleNotTrusted(): HyperkubeError {
  const message =
    'the manifest of the bundle is not signed by the key of this cluster: it was changed, or made for another cluster'
  return new HyperkubeError('BUNDLE_NOT_TRUSTED', message, {
    hint: 'copy the bundle again; for a bundle of another cluster, use its public key: hyperkube bundle verify FILE --public-key KEY',
  })
}
