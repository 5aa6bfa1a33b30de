import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, crc32, createGzip } from 'node:zlib'
import type { AgentRelease } from './agent-release.ts'

/** Content of an executable. */
export interface ReleaseContent {
  readonly file: string
  readonly sha256: string
  /** CRC-32, as in the trailer of a gzip file. */
  readonly checksum: number
  readonly size: number
}

/** Reads the executable of a release. `version` is the version number without the digest. */
export async function readRelease(
  file: string,
  version: string,
  cacheDirectory: () => string,
): Promise<AgentRelease> {
  const content = await readContent(file)
  const { sha256 } = content
  // All hosts of a run share one compression.
  let compressed: Promise<string> | undefined
  return {
    version: `${version}-${sha256.slice(0, 8)}`,
    file,
    sha256,
    compress: async () => (compressed ??= compressRelease(content, cacheDirectory())),
  }
}

async function readContent(file: string): Promise<ReleaseContent> {
  const hash = createHash('sha256')
  let [checksum, size] = [0, 0]
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 1 << 20 })
  for await (const chunk of chunks) {
    hash.update(chunk)
    checksum = crc32(chunk, checksum)
    size += chunk.length
  }
  return { file, sha256: hash.digest('hex'), checksum, size }
}

/**
 * Returns the path of the gzip-compressed executable. A release contains it beside the executable. Otherwise the
 * executable is compressed once and kept in the cache. The host verifies the digest of the unpacked content.
 */
export async function compressRelease(content: ReleaseContent, cacheDirectory: string): Promise<string> {
  const shipped = `${content.file}.gz`
  if (await isGzipOf(shipped, content)) return shipped
  const directory = join(cacheDirectory, 'hyperkube', 'releases')
  const name = `${content.sha256}.gz`
  const cached = join(directory, name)
  if (await isGzipOf(cached, content)) {
    const now = new Date()
    await utimes(cached, now, now)
    return cached
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = join(directory, `.${process.pid}.${name}`)
  try {
    await pipeline(
      createReadStream(content.file, { highWaterMark: 1 << 20 }),
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

/** True if the trailer of a gzip file names the checksum and the size of the content. */
async function isGzipOf(path: string, { checksum, size }: ReleaseContent): Promise<boolean> {
  try {
    await using file = await open(path)
    const { size: fileSize } = await file.stat()
    if (fileSize < trailerBytes) return false
    const trailer = Buffer.alloc(trailerBytes)
    await file.read(trailer, 0, trailerBytes, fileSize - trailerBytes)
    return trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === size % 2 ** 32
  } catch {
    return false
  }
}

/** Milliseconds after which an unused file is removed. A running command may still send a file of another release. */
const maxUnusedMs = 7 * 86_400_000

async function removeUnused(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'))
  await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name)
      // Another command may have removed the file.
      const found = await stat(path).catch(() => undefined)
      if (found !== undefined && Date.now() - found.mtimeMs > maxUnusedMs) await rm(path, { force: true })
    }),
  )
}
