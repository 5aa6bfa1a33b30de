import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Random, systemRandom } from '../pki/random.ts'

/** Files for their owner's eyes only. A write happens as a whole or not at all, and outlives a power cut. */
export interface PrivateFiles {
  read(path: string): Promise<string>
  /** Puts a file in the place of one that may be there. */
  replace(path: string, text: string): Promise<void>
  /** Fails with EEXIST when there is one. */
  create(path: string, text: string): Promise<void>
}

export function privateFiles(random: Random = systemRandom): PrivateFiles {
  return {
    read: async (path) => readFile(path, 'utf8'),
    replace: async (path, text) => write(path, text, random, rename),
    // Unlike a rename, a link never takes the place of another file.
    create: async (path, text) => write(path, text, random, link),
  }
}

type Publish = (from: string, to: string) => Promise<void>

async function write(path: string, text: string, random: Random, publish: Publish): Promise<void> {
  const suffix = Buffer.from(random.bytes(8)).toString('hex')
  const temporary = join(dirname(path), `.${basename(path)}.${suffix}`)
  const file = await open(temporary, 'wx', 0o600)
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
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
