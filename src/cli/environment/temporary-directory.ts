import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'

export interface WorkDirectory extends AsyncDisposable {
  readonly path: string
}

/** Creates a private directory in the temporary directory of the system. Dispose removes it. */
export async function createTemporaryDirectory(): Promise<WorkDirectory> {
  return toWorkDirectory(await writeTemporary(async () => mkdtemp(join(tmpdir(), 'hyperkube-work-'))))
}

/** Runs `write`. Reports its failure as a failed write into the temporary directory of the system. */
export async function writeTemporary<T>(write: () => Promise<T>): Promise<T> {
  return write().catch((cause: unknown) => {
    throw new HyperkubeError('TMPDIR_NOT_WRITTEN', `cannot write to the temporary directory ${tmpdir()}`, {
      hint: `check free space and permissions: df -h ${tmpdir()}; ls -ld ${tmpdir()}; or set TMPDIR to another directory`,
      cause,
    })
  })
}

/** Makes a directory that is removed on dispose. */
export function toWorkDirectory(path: string): WorkDirectory {
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) }
}
