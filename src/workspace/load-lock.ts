import { type Lock, readLock } from '../catalog/lock.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { formatFileFlag, buildLockPath } from './cluster-paths.ts'
import type { WorkspaceContext } from './context.ts'

/** Reads the lock of a cluster; undefined if it does not exist yet. */
export async function loadLock(
  { readFile }: Pick<WorkspaceContext, 'readFile'>,
  clusterFile: string,
): Promise<Lock | undefined> {
  const file = buildLockPath(clusterFile)
  let text: string
  try {
    text = await readFile(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new HyperkubeError('LOCK_NOT_READ', `cannot read ${file}`, {
      hint: `check the permissions: ls -l ${file}`,
      cause,
    })
  }
  return readLock(file, text)
}

/** Reads the lock of a cluster, and throws if it does not exist. */
export async function requireLock(
  context: Pick<WorkspaceContext, 'readFile'>,
  clusterFile: string,
): Promise<Lock> {
  const lock = await loadLock(context, clusterFile)
  if (lock !== undefined) return lock
  throw new HyperkubeError('LOCK_NOT_READ', `${buildLockPath(clusterFile)} does not exist`, {
    hint: `create it: hyperkube lock${formatFileFlag(clusterFile)}`,
  })
}
