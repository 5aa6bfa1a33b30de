import { posix } from 'node:path'
import type { FactSource, Space } from '../source.ts'
import type { Fact } from './fact.ts'

/** The host itself, and where our components keep what grows. */
const directories = ['/', '/var/lib/etcd', '/var/lib/containerd', '/var/lib/kubelet']

export const disks: Fact<'disks'> = async (source) => {
  const spaces = await Promise.all(
    directories.map(async (path) => ({ path, ...(await nearestSpace(source, path)) })),
  )
  return spaces.map(({ path, totalBytes = 0, availableBytes = 0 }) => ({ path, totalBytes, availableBytes }))
}

/** A directory that is not there yet will be on the disk of the one that it comes into. */
async function nearestSpace(source: FactSource, path: string): Promise<Space | undefined> {
  const space = await source.space(path)
  if (space !== undefined || path === '/') return space
  return nearestSpace(source, posix.dirname(path))
}
