import type { KeyObject } from 'node:crypto'
import { signatureOf } from '../bundle/signature.ts'
import { tarEnd, tarFile, tarHeader, tarPadding } from '../bundle/tar.ts'
import { manifestName, signatureName } from './archive-header.ts'
import { databaseFile, manifestText, type SmallFile, smallFiles, type SnapshotManifest } from './manifest.ts'

export interface SnapshotContent {
  readonly manifest: SnapshotManifest
  readonly small: Readonly<Record<SmallFile, Buffer>>
  readonly database: AsyncIterable<Uint8Array>
}

/** The bytes of a snapshot, one after the other. The same content gives the same bytes. */
export async function* snapshotBytes(
  { manifest, small, database }: SnapshotContent,
  privateKey: KeyObject,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(manifestText(manifest))
  yield* tarFile(manifestName, text)
  yield* tarFile(signatureName, signatureOf(text, privateKey))
  for (const name of smallFiles) yield* tarFile(name, small[name])
  const { size } = manifest.files[databaseFile]
  yield tarHeader(databaseFile, size)
  yield* database
  yield tarPadding(size)
  yield tarEnd
}
