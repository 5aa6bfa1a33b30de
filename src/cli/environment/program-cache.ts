import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileExists } from '../../kit/files.ts'
import type { CommandContext } from '../command/command.ts'

/**
 * Returns the path of a program, or of a directory of programs, in the cache. If it is missing, `create`
 * builds it in an empty directory and returns the path to keep. Only a complete result gets the final name.
 */
export async function cacheProgram(
  { cacheDirectory }: Pick<CommandContext, 'cacheDirectory'>,
  name: string,
  create: (workDirectory: string) => Promise<string>,
): Promise<string> {
  const path = join(cacheDirectory(), 'hyperkube', 'programs', name)
  if (await fileExists(path)) return path
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const workDirectory = await mkdtemp(join(dirname(path), '.new-'))
  try {
    // If two processes create the program at the same time, the second one uses the first result.
    await rename(await create(workDirectory), path).catch(async (error: unknown) => {
      if (!(await fileExists(path))) throw error
    })
    return path
  } finally {
    await rm(workDirectory, { recursive: true, force: true })
  }
}
