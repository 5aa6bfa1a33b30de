import { createHash } from 'node:crypto'
import { bundleDamaged } from './errors.ts'
import type { BundleMember } from './manifest.ts'

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
