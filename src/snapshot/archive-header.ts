import type { ByteReader } from '../bundle/byte-reader.ts'
import { signatureSize } from '../bundle/signature.ts'
import { readTarSize, tarHeader } from '../bundle/tar.ts'
import { snapshotCorrupt } from './errors.ts'
import type { SmallFile } from './manifest.ts'
import { verifyTarHeader, verifyTarPadding, takeExactly } from './sections.ts'

/** Names of the first two files of a snapshot: the manifest and its signature. */
export const snapshotManifestName = 'snapshot.json'
export const snapshotSignatureName = 'snapshot.sig'

/** Maximum size of each file before the database, in bytes. Real files are much smaller. */
const maxHeaderFileBytes = 16 << 20

/** All files before the database. They are not trusted until they are verified. */
export interface SnapshotHeader {
  readonly manifest: Buffer
  readonly signature: Buffer
  readonly small: Readonly<Record<SmallFile, Buffer>>
}

export async function readSnapshotHeader(reader: ByteReader): Promise<SnapshotHeader> {
  const manifest = await readSmallFile(reader, snapshotManifestName)
  await verifyTarHeader(reader, snapshotSignatureName, signatureSize)
  const signature = await takeExactly(reader, signatureSize, snapshotSignatureName)
  await verifyTarPadding(reader, snapshotSignatureName, signatureSize)
  const small = {
    'cluster.identity': await readSmallFile(reader, 'cluster.identity'),
    'cluster.yml': await readSmallFile(reader, 'cluster.yml'),
    'cluster.lock': await readSmallFile(reader, 'cluster.lock'),
  }
  return { manifest, signature, small }
}

/** Reads a file whose size is known only from its tar header. */
async function readSmallFile(reader: ByteReader, name: string): Promise<Buffer> {
  const header = await takeExactly(reader, tarHeader(name, 0).length, `the header of ${name}`)
  const size = readTarSize(header)
  if (!(size <= maxHeaderFileBytes) || !header.equals(tarHeader(name, size))) {
    throw snapshotCorrupt(
      name === snapshotManifestName ? 'it does not begin as a snapshot does' : `the header of ${name}`,
    )
  }
  const content = await takeExactly(reader, size, `the content of ${name}`)
  await verifyTarPadding(reader, name, size)
  return content
}
