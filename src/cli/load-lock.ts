import { type Lock, readLock } from '../catalog/lock.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { fileFlag, lockFile } from './cluster-paths.ts'
import type { Context } from './command.ts'

/** The lock of a cluster; nothing when there is none yet. */
export async function loadLock(
  { readFile }: Pick<Context, 'readFile'>,
  clusterFile: string,
): Promise<Lock | undefined> {
  const file = lockFile(clusterFile)
  let text: string
  try {
    text = await readFile(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new HyperkubeError('LOCK_NOT_READ', `${file} could not be read`, {
      hint: `look at ls -l ${file}`,
      cause,
    })
  }
  return readLock(file, text)
}

/** The same for those who can do nothing without it. */
export async function requireLock(context: Pick<Context, 'readFile'>, clusterFile: string): Promise<Lock> {
  const lock = await loadLock(context, clusterFile)
  if (lock !== undefined) return lock
  throw new HyperkubeError('LOCK_NOT_READ', `${lockFile(clusterFile)} does not exist`, {
    hint: `write it: hyperkube lock${fileFlag(clusterFile)}`,
  })
}
