import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'
import {
  createTemporaryDirectory,
  toWorkDirectory,
  type WorkDirectory,
} from '../environment/temporary-directory.ts'

/**
 * Creates a private directory for a new snapshot inside its store, or in the temporary directory of the
 * system. Dispose removes it.
 */
export async function createSnapshotDirectory(store: string | undefined): Promise<WorkDirectory> {
  if (store === undefined) return createTemporaryDirectory()
  return toWorkDirectory(
    await createHiddenDirectory(store).catch((cause: unknown) => {
      throw new HyperkubeError('SNAPSHOT_NOT_WRITTEN', `cannot write to the directory ${store}`, {
        hint: `check free space and permissions: df -h ${store}; ls -ld ${store}; or save elsewhere: hyperkube etcd snapshot save --to DIRECTORY`,
        cause,
      })
    }),
  )
}

async function createHiddenDirectory(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  return mkdtemp(join(parent, '.new-'))
}
