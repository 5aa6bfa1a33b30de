import { randomBytes } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Puts a file in the place of one that may be there. Whoever reads it meanwhile sees the old one or the new, whole; what
 * is written outlives a power cut.
 */
export async function replaceFile(
  path: string,
  text: string,
  mode: number,
  suffix = random(),
): Promise<void> {
  await write({ path, text, mode, suffix }, rename)
}

/** The same for a file that must not be there yet: fails with EEXIST when it is. */
export async function createFile(path: string, text: string, mode: number, suffix = random()): Promise<void> {
  // Unlike a rename, a link never takes the place of another file.
  await write({ path, text, mode, suffix }, link)
}

interface Content {
  readonly path: string
  readonly text: string
  readonly mode: number
  readonly suffix: string
}

type Publish = (from: string, to: string) => Promise<void>

async function write({ path, text, mode, suffix }: Content, publish: Publish): Promise<void> {
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

/** A new name is only safe once its directory is. Windows has no such call, and needs none. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function random(): string {
  return randomBytes(8).toString('hex')
}
