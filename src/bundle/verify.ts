import { createHash, type KeyObject } from 'node:crypto'
import { ByteReader } from './byte-reader.ts'
import { damaged } from './errors.ts'
import { passHeader, passPadding, readFront } from './archive-header.ts'
import type { BundleManifest, Member } from './manifest.ts'
import { tarEnd } from './tar.ts'

/** Reads a bundle once, from its first byte to its last. The first that is not as it was made is named. */
export async function verifyBundle(
  bytes: AsyncIterable<Uint8Array>,
  key: KeyObject,
  seen: (member: Member) => void = () => undefined,
): Promise<BundleManifest> {
  const reader = new ByteReader(bytes)
  const { manifest } = await readFront(reader, key)
  for (const member of manifest.members) {
    const { path, size, sha256 } = member
    await passHeader(reader, path, size)
    const hash = createHash('sha256')
    for await (const piece of reader.upTo(size)) hash.update(piece)
    if (hash.digest('hex') !== sha256) throw damaged(`the content of ${path}`)
    await passPadding(reader, path, size)
    seen(member)
  }
  if (!(await reader.take(tarEnd.length)).equals(tarEnd)) throw damaged('its end')
  if ((await reader.take(1)).length > 0) throw damaged('something follows its end')
  return manifest
}
