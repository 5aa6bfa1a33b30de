import type { KeyObject } from 'node:crypto'
import { bundleManifestName, bundleSignatureName } from './archive-header.ts'
import { type BundleManifest, formatBundleManifest, type BundleMember } from './manifest.ts'
import { verifyDigest } from './verify-digest.ts'
import { signContent } from './signature.ts'
import { tarEnd, tarFile, tarHeader, tarPadding } from './tar.ts'

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
