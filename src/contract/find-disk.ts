import type { Facts } from './facts.ts'

export type Disk = Facts['system']['disks'][number]

/** Finds the disk that holds a directory: the one with the longest matching mount path. */
export function findDisk(disks: readonly Disk[], directory: string): Disk | undefined {
  return disks.reduce<Disk | undefined>((best, disk) => {
    const nearer = best === undefined || disk.path.length > best.path.length
    return nearer && containsPath(disk.path, directory) ? disk : best
  }, undefined)
}

function containsPath(mount: string, directory: string): boolean {
  if (mount.startsWith('/')) return `${directory}/`.startsWith(mount === '/' ? '/' : `${mount}/`)
  // Windows paths are case-insensitive.
  const base = mount.replace(/\\?$/, '\\').toLowerCase()
  return `${directory}\\`.toLowerCase().startsWith(base)
}
