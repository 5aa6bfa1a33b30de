import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file atomically and durably. Readers see the old or the new content, never a mix, and the new
 * content survives a power cut.
 */
export async function replaceFile(
  path: string,
  text: string,
  mode: number,
  suffix = randomSuffix(),
): Promise<void> {
  await writeAtomically({ path, text, mode, suffix }, rename)
}

/** Creates a file atomically; fails with EEXIST if it exists. */
export async function createFile(
  path: string,
  text: string,
  mode: number,
  suffix = randomSuffix(),
): Promise<void> {
  // Unlike rename, link never replaces an existing file.
  await writeAtomically({ path, text, mode, suffix }, link)
}

interface Content {
  readonly path: string
  readonly text: string
  readonly mode: number
  readonly suffix: string
}

type Publish = (from: string, to: string) => Promise<void>

async function writeAtomically({ path, text, mode, suffix }: Content, publish: Publish): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${suffix}`)
  const file = await open(temporary, 'wx', mode)
  try {
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await publish(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(dirname(path))
}

/**
 * Flushes a directory to disk, because a new file name survives a power cut only after a flush. Windows
 * neither allows nor needs the flush.
 */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function randomSuffix(): string {
  return randomBytes(8).toString('hex')
}

export async function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

export function readFileBytes(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: 1 << 20, ...(signal && { signal }) })
}

/** Computes the SHA-256 of a file. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of readFileBytes(path, signal)) hash.update(chunk)
  return hash.digest('hex')
}

/** Writes a new private file and flushes it to disk, so that it survives a power failure. */
export async function writeNewFile(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  let size = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of bytes) {
      hash.update(chunk)
      size += chunk.length
      await file.writeFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { size, sha256: hash.digest('hex') }
}
