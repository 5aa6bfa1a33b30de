import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { exists } from '../src/kit/files.ts'

/** Where the lab keeps what is costly to make: outside the checkout, so that a clone starts warm. */
export function cacheDirectory(): string {
  const { HYPERKUBE_LAB_CACHE: own, XDG_CACHE_HOME: users } = process.env
  return resolve(own || join(users || join(homedir(), '.cache'), 'hyperkube-lab'))
}

/** What a thing in the cache is made from, as the short digest that its name ends with. */
export function recipeDigest(recipe: string): string {
  return createHash('sha256').update(recipe).digest('hex').slice(0, 12)
}

/**
 * Makes a directory once. Only a whole one ever bears its name: a run that was cut off is simply run again, and of
 * two runs at once the second finds the work done.
 */
export async function keep(directory: string, make: (unfinished: string) => Promise<void>): Promise<string> {
  if (await exists(directory)) return directory
  const parent = dirname(directory)
  const unfinished = join(parent, `.${process.pid}-${basename(directory)}`)
  await mkdir(parent, { recursive: true })
  await removeAbandoned(parent)
  await mkdir(unfinished, { mode: 0o755 })
  try {
    await make(unfinished)
    await rename(unfinished, directory).catch(async (error: unknown) => {
      if (!(await exists(directory))) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return directory
}

/** What processes that are gone have left half-made. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = /^\.(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && (pid === String(process.pid) || !(await exists(`/proc/${pid}`)))) {
      await rm(join(parent, name), { recursive: true, force: true })
    }
  }
}
