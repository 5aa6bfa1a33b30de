import { readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '../../kit/files.ts'
import type { Cgroups } from './cgroups.ts'

const root = '/sys/fs/cgroup'

export function linuxCgroups(): Cgroups {
  return {
    async remove(name) {
      // Version 2 has one hierarchy, version 1 one for each controller.
      const hierarchies = [root, ...(await directoriesIn(root))]
      const paths = hierarchies.map((hierarchy) => join(hierarchy, name))
      const removed: string[] = []
      for (const path of paths) {
        if (await exists(path)) await removeTree(path)
        else continue
        if (!(await exists(path))) removed.push(path)
      }
      return removed
    },
  }
}

/** Files in it are the kernel's; only directories are taken away. One that is still in use stays. */
async function removeTree(path: string): Promise<void> {
  for (const child of await directoriesIn(path)) await removeTree(child)
  await rmdir(path).catch(() => undefined)
}

async function directoriesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}
