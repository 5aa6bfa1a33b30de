import { posix } from 'node:path'
import type { FactSource, FileSystemSpace } from '../source.ts'
import type { Fact } from './fact.ts'

/** The root directory and the directories in which components store growing data. */
const directories = ['/', '/var/lib/etcd', '/var/lib/containerd', '/var/lib/kubelet']

export const readDisks: Fact<'disks'> = async (source) => {
  const spaces = await Promise.all(
    directories.map(async (path) => ({ path, ...(await readNearestSpace(source, path)) })),
  )
  return spaces.map(({ path, totalBytes = 0, availableBytes = 0 }) => ({ path, totalBytes, availableBytes }))
}

/**
 * Reads the space for a directory. If it does not exist yet, it will be on the disk of its closest existing
 * parent.
 */
async function readNearestSpace(source: FactSource, path: string): Promise<FileSystemSpace | undefined> {
  const space = await source.space(path)
  if (space !== undefined || path === '/') return space
  return readNearestSpace(source, posix.dirname(path))
}
