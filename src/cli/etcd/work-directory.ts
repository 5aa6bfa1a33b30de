import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'

export interface WorkDirectory extends AsyncDisposable {
  readonly path: string
}

/** A directory for this person alone, gone when it is let go: inside another one, or where such things are. */
export async function workDirectory(inside?: string): Promise<WorkDirectory> {
  const path = await made(inside).catch((cause: unknown) => {
    const where = inside ?? tmpdir()
    throw new HyperkubeError('SNAPSHOT_NOT_WRITTEN', `nothing can be written into ${where}`, {
      hint: inside === undefined ? 'TMPDIR names another directory' : '--to names another directory',
      cause,
    })
  })
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) }
}

async function made(inside: string | undefined): Promise<string> {
  if (inside === undefined) return mkdtemp(join(tmpdir(), 'hyperkube-snapshot-'))
  await mkdir(inside, { recursive: true, mode: 0o700 })
  return mkdtemp(join(inside, '.new-'))
}
