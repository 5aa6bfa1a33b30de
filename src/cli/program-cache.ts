import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exists } from '../kit/files.ts'
import type { Context } from './command.ts'

/**
 * A program, or a directory of some, in the cache: made there once. `make` has a directory of its own, and answers with
 * what shall bear the name: only what is whole and checked ever does.
 */
export async function keepProgram(
  { cacheDirectory }: Pick<Context, 'cacheDirectory'>,
  name: string,
  make: (work: string) => Promise<string>,
): Promise<string> {
  const place = join(cacheDirectory(), 'hyperkube', 'programs', name)
  if (await exists(place)) return place
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  const work = await mkdtemp(join(dirname(place), '.new-'))
  try {
    // Of two at once the second finds it there.
    await rename(await make(work), place).catch(async (error: unknown) => {
      if (!(await exists(place))) throw error
    })
    return place
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
