import { randomBytes } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'
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
 * Syncs a directory, because a new file name is durable only after that. Not possible and not needed on
 * Windows.
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
