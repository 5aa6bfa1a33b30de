import { createHash, type KeyObject } from 'node:crypto'
import { ByteReader } from './byte-reader.ts'
import { bundleDamaged } from './errors.ts'
import { expectTarHeader, expectTarPadding, readBundleHeader } from './archive-header.ts'
import type { BundleManifest, BundleMember } from './manifest.ts'
import { tarEnd } from './tar.ts'

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
  if ((await reader.take(1)).length > 0) throw bundleDamaged('something follows its end')
  return manifest
}
