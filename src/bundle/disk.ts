import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { HyperkubeError } from '../kit/errors.ts'
import type { PartStore } from './fetch-parts.ts'
import type { RandomAccess } from './open.ts'

/** Access to the disk for writing and reading bundles. */
export interface BundleDisk {
  /** Returns the store for the parts of an unfinished bundle, in the directory FILE.parts. */
  parts(file: string): PartStore
  /** Writes a file atomically and returns its size. */
  write(file: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  read(file: string): AsyncIterable<Uint8Array>
  open(file: string): Promise<RandomAccess>
}

/** Bytes to read at a time. */
const pieceSize = 1 << 20

export function bundleDisk(): BundleDisk {
  return {
    parts: (file) => diskParts(`${file}.parts`),
    write: writeAtomically,
    read: (file) => createReadStream(file, { highWaterMark: pieceSize }),
    async open(path) {
      const file = await open(path, 'r')
      return {
        async read(position, size) {
          const piece = Buffer.allocUnsafe(size)
          const { bytesRead } = await file.read(piece, 0, size, position)
          return piece.subarray(0, bytesRead)
        },
        [Symbol.asyncDispose]: async () => file.close(),
      }
    },
  }
}

function diskParts(directory: string): PartStore {
  const partPath = (sha256: string): string => join(directory, sha256)
  return {
    size: async (sha256) =>
      stat(partPath(sha256)).then(
        ({ size }) => size,
        () => undefined,
      ),
    async put(sha256, bytes, what) {
      await mkdir(directory, { recursive: true })
      const hash = createHash('sha256')
      return writeAtomically(
        partPath(sha256),
        (async function* () {
          for await (const chunk of bytes) {
            hash.update(chunk)
            yield chunk
          }
          const found = hash.digest('hex')
          if (found !== sha256) throw digestMismatch(what, sha256, found)
        })(),
      )
    },
    async *content(sha256) {
      const hash = createHash('sha256')
      for await (const chunk of createReadStream(partPath(sha256), { highWaterMark: pieceSize })) {
        hash.update(chunk)
        yield chunk
      }
      if (hash.digest('hex') === sha256) return
      // Without its file, the next run fetches the part again.
      await rm(partPath(sha256), { force: true })
      throw partChanged(partPath(sha256))
    },
    clear: async () => rm(directory, { recursive: true, force: true }),
  }
}

async function writeAtomically(path: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}`)
  const file = await open(temporary, 'wx', 0o644)
  try {
    let size = 0
    try {
      for await (const chunk of bytes) {
        size += chunk.length
        await file.writeFile(chunk)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    return size
  } finally {
    await rm(temporary, { force: true })
  }
}

function digestMismatch(what: string, sha256: string, found: string): HyperkubeError {
  const message = `${what} does not match cluster.lock: its SHA-256 is ${found}, expected ${sha256}`
  return new HyperkubeError('BUNDLE_WRONG_BYTES', message, {
    hint: 'fix the file at its source; to check whether upstream has changed it: hyperkube lock --check',
  })
}

function partChanged(path: string): HyperkubeError {
  return new HyperkubeError(
    'BUNDLE_WRONG_BYTES',
    `${path} was changed after it was fetched, and was removed`,
    {
      hint: 'check the disk, then run the same command again: it fetches only this part',
    },
  )
}
