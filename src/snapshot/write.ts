import type { KeyObject } from 'node:crypto'
import { signContent } from '../bundle/signature.ts'
import { tarEnd, tarFile, tarHeader, tarPadding } from '../bundle/tar.ts'
import { snapshotManifestName, snapshotSignatureName } from './archive-header.ts'
import {
  databaseFile,
  formatSnapshotManifest,
  type SmallFile,
  smallFiles,
  type SnapshotManifest,
} from './manifest.ts'

export interface SnapshotContent {
  readonly manifest: SnapshotManifest
  readonly small: Readonly<Record<SmallFile, Buffer>>
  readonly database: AsyncIterable<Uint8Array>
}

/** Encodes a snapshot as a tar archive. The same content always gives the same bytes. */
export async function* encodeSnapshot(
  { manifest, small, database }: SnapshotContent,
  privateKey: KeyObject,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(formatSnapshotManifest(manifest))
  yield* tarFile(snapshotManifestName, text)
  yield* tarFile(snapshotSignatureName, signContent(text, privateKey))
  for (const name of smallFiles) yield* tarFile(name, small[name])
  const { size } = manifest.files[databaseFile]
  yield tarHeader(databaseFile, size)
  yield* database
  yield tarPadding(size)
  yield tarEnd
}
