import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, crc32, createGzip } from 'node:zlib'
import type { AgentRelease } from './agent-release.ts'

/** Reads the executable of a release. `version` is the version number without the digest. */
export async function readRelease(
  file: string,
  version: string,
  cacheDirectory: () => string,
): Promise<AgentRelease> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  const sha256 = hash.digest('hex')
  // The file is compressed only once, and all hosts of a run get the same file.
  let compressed: Promise<string> | undefined
  return {
    version: `${version}-${sha256.slice(0, 8)}`,
    file,
    sha256,
    compress: async () => (compressed ??= compressRelease({ file, sha256 }, cacheDirectory())),
  }
}

/**
 * Returns the path of the gzip-compressed executable. A release contains it beside the executable. Otherwise
 * the executable is compressed once and kept in the cache. The host verifies the digest of the unpacked
 * content.
 */
export async function compressRelease(
  { file, sha256 }: Pick<AgentRelease, 'file' | 'sha256'>,
  cacheDirectory: string,
): Promise<string> {
  const trailer = await computeTrailer(file)
  const shipped = `${file}.gz`
  if (await hasTrailer(shipped, trailer)) return shipped
  const directory = join(cacheDirectory, 'hyperkube', 'releases')
  const name = `${sha256}.gz`
  const cached = join(directory, name)
  if (await hasTrailer(cached, trailer)) {
    const now = new Date()
    await utimes(cached, now, now)
    return cached
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = join(directory, `.${process.pid}.${name}`)
  try {
    await pipeline(
      createReadStream(file, { highWaterMark: 1 << 20 }),
      createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 1 << 20 }),
      createWriteStream(temporary, { mode: 0o600 }),
    )
    await rename(temporary, cached)
  } finally {
    await rm(temporary, { force: true })
  }
  await removeUnused(directory)
  return cached
}

const trailerBytes = 8

/** Computes the trailer that a gzip file of this content has: CRC-32 and size, both modulo 2^32. */
async function computeTrailer(file: string): Promise<Buffer> {
  let [checksum, size] = [0, 0]
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 1 << 20 })
  for await (const chunk of chunks) {
    checksum = crc32(chunk, checksum)
    size += chunk.length
  }
  const trailer = Buffer.alloc(trailerBytes)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  return trailer
}

/** True if the file exists and ends with this trailer. */
async function hasTrailer(path: string, expected: Buffer): Promise<boolean> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    if (size < trailerBytes) return false
    const trailer = Buffer.alloc(trailerBytes)
    await file.read(trailer, 0, trailerBytes, size - trailerBytes)
    return trailer.equals(expected)
  } catch {
    return false
  }
}

/**
 * Milliseconds after which an unused file is removed. It is not removed earlier, because a running command
 * may still send a file of another release.
 */
const maxUnusedMs = 7 * 86_400_000

async function removeUnused(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'))
  await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name)
      // Another command may have removed the file, so a missing file is not an error.
      const found = await stat(path).catch(() => undefined)
      if (found !== undefined && Date.now() - found.mtimeMs > maxUnusedMs) await rm(path, { force: true })
    }),
  )
}
