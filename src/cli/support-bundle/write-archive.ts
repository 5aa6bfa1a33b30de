import { randomBytes } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { syncDirectory } from '../../kit/atomic-file.ts'
import { writeNewFile } from '../../snapshot/file-bytes.ts'

/**
 * Writes an archive atomically, readable by its owner only, and never overwrites a file. Returns its size.
 */
export async function writeGzipArchive(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}`)
  let size = 0
  try {
    await pipeline(
      Readable.from(bytes),
      createGzip(),
      async (zipped: AsyncIterable<Uint8Array>) => {
        ;({ size } = await writeNewFile(temporary, zipped))
      },
      { signal },
    )
    await link(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(dirname(path))
  return size
}
