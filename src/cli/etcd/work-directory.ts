import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'

export interface WorkDirectory extends AsyncDisposable {
  readonly path: string
}

/**
 * Creates a private directory that is removed on dispose, inside `parent` or in the temporary directory of
 * the system.
 */
export async function createWorkDirectory(parent?: string): Promise<WorkDirectory> {
  const path = await createTemporaryDirectory(parent).catch((cause: unknown) => {
    const location = parent ?? tmpdir()
    throw new HyperkubeError('SNAPSHOT_NOT_WRITTEN', `nothing can be written into ${location}`, {
      hint: parent === undefined ? 'TMPDIR names another directory' : '--to names another directory',
      cause,
    })
  })
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) }
}

async function createTemporaryDirectory(parent: string | undefined): Promise<string> {
  if (parent === undefined) return mkdtemp(join(tmpdir(), 'hyperkube-snapshot-'))
  await mkdir(parent, { recursive: true, mode: 0o700 })
  return mkdtemp(join(parent, '.new-'))
}
