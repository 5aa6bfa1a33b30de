import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileExists } from '../src/kit/files.ts'

/** Cache directory of the lab. It is outside the checkout, so a new clone starts with a warm cache. */
export function cacheDirectory(): string {
  const { HYPERKUBE_LAB_CACHE: labCache, XDG_CACHE_HOME: userCache } = process.env
  return resolve(labCache || join(userCache || join(homedir(), '.cache'), 'hyperkube-lab'))
}

/** Short digest of all inputs of a cache entry. The name of the entry ends with this digest. */
export function digestRecipe(recipe: string): string {
  return createHash('sha256').update(recipe).digest('hex').slice(0, 12)
}

/**
 * Returns the directory, and creates it with `make` if it is missing. The directory gets its final name only
 * when it is complete, so an interrupted run can be repeated. If two processes run at once, the second one
 * uses the result of the first.
 */
export async function ensureCached(
  directory: string,
  make: (unfinished: string) => Promise<void>,
): Promise<string> {
  if (await fileExists(directory)) return directory
  const parent = dirname(directory)
  const unfinished = join(parent, `.${process.pid}-${basename(directory)}`)
  await mkdir(parent, { recursive: true })
  await removeAbandoned(parent)
  await mkdir(unfinished, { mode: 0o755 })
  try {
    await make(unfinished)
    await rename(unfinished, directory).catch(async (error: unknown) => {
      if (!(await fileExists(directory))) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return directory
}

/** Deletes unfinished directories of this process and of processes that no longer exist. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = /^\.(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && (pid === String(process.pid) || !(await fileExists(`/proc/${pid}`)))) {
      await rm(join(parent, name), { recursive: true, force: true })
    }
  }
}
