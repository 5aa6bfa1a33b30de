import { readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileExists } from '../../kit/files.ts'
import type { Cgroups } from './cgroups.ts'

const root = '/sys/fs/cgroup'

export function createLinuxCgroups(): Cgroups {
  return {
    async remove(name) {
      // cgroup version 2 has one hierarchy at the root. Version 1 has one per controller, in directories
      // below it.
      const hierarchies = [root, ...(await listDirectories(root))]
      const paths = hierarchies.map((hierarchy) => join(hierarchy, name))
      const removed: string[] = []
      for (const path of paths) {
        if (await fileExists(path)) await removeTree(path)
        else continue
        if (!(await fileExists(path))) removed.push(path)
      }
      return removed
    },
  }
}

/**
 * Removes a cgroup and its children with rmdir, because the kernel's files in them cannot be deleted. A
 * cgroup that is in use stays.
 */
async function removeTree(path: string): Promise<void> {
  for (const child of await listDirectories(path)) await removeTree(child)
  await rmdir(path).catch(() => undefined)
}

async function listDirectories(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}
