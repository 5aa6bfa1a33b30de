import type { KeyObject } from 'node:crypto'
import { manifestName, signatureName } from './archive-header.ts'
import { type BundleManifest, manifestText, type Member } from './manifest.ts'
import { proven } from './verify-digest.ts'
import { signatureOf } from './signature.ts'
import { tarEnd, tarFile, tarHeader, tarPadding } from './tar.ts'

/** The bytes of a bundle, one after the other. The same content gives the same bytes. */
export async function* bundleBytes(
  manifest: BundleManifest,
  privateKey: KeyObject,
  open: (member: Member) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(manifestText(manifest))
  yield* tarFile(manifestName, text)
  yield* tarFile(signatureName, signatureOf(text, privateKey))
  for (const member of manifest.members) yield* framed(member, proven(member, open(member)))
  yield tarEnd
}

/** A file of an archive, whose bytes must be as many as was said. */
export async function* framed(
  { path, size }: Member,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield tarHeader(path, size)
  yield* content
  yield tarPadding(size)
}
