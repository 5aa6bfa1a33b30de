import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * A cgroup hierarchy. Each host gets its own cgroups in every hierarchy and sees them as the root. Otherwise
 * all kubelets of a lab would share one tree and delete each other's pods.
 */
export interface Hierarchy {
  /** Controllers such as `memory` and `cpu`, or `name=systemd`; empty for cgroup version 2. */
  readonly controllers: readonly string[]
  readonly mount: string
  /** Path of this process in the hierarchy; the lab creates cgroups below it. */
  readonly ownPath: string
}

/** Parses the texts of /proc/self/cgroup and /proc/self/mountinfo. */
export function parseHierarchies(cgroup: string, mountinfo: string): Hierarchy[] {
  const mounts = mountinfo.split('\n').flatMap((line) => {
    const [mountFields = '', source = ''] = line.split(' - ')
    const [, , , root, mount] = mountFields.split(' ')
    const [type, , options = ''] = source.split(' ')
    return root !== undefined && mount !== undefined && (type === 'cgroup' || type === 'cgroup2')
      ? [{ root, mount, version2: type === 'cgroup2', options: options.split(',') }]
      : []
  })
  return cgroup.split('\n').flatMap((line) => {
    const [, names, ownPath] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (names === undefined || ownPath === undefined) return []
    const controllers = names === '' ? [] : names.split(',')
    const found = mounts.find(({ version2, options }) =>
      controllers.length === 0 ? version2 : !version2 && controllers.every((one) => options.includes(one)),
    )
    if (found === undefined) return []
    // In a container, the mount may show only the part of the hierarchy below `found.root`. /proc/self/cgroup
    // may still show the path from the top.
    const below = ownPath.startsWith(found.root) ? relative(found.root, ownPath) : ownPath
    return [{ controllers, mount: found.mount, ownPath: join('/', below) }]
  })
}

export async function readHierarchies(): Promise<Hierarchy[]> {
  const [cgroup, mountinfo] = await Promise.all([
    readFile('/proc/self/cgroup', 'utf8'),
    readFile('/proc/self/mountinfo', 'utf8'),
  ])
  return parseHierarchies(cgroup, mountinfo)
}

/** Creates the cgroups of a host below those of this process, and returns their directories. */
export async function makeCgroups(name: string): Promise<string[]> {
  return Promise.all(
    (await readHierarchies()).map(async ({ controllers, mount, ownPath }) => {
      const parent = join(mount, ownPath)
      const directory = join(parent, name)
      await mkdir(directory, { recursive: true })
      if (controllers.includes('cpuset')) {
        for (const file of ['cpuset.cpus', 'cpuset.mems']) {
          await writeFile(join(directory, file), await readFile(join(parent, file)))
        }
      }
      return directory
    }),
  )
}

/** Finds the cgroups with this name in all hierarchies, no matter which process created them. */
export async function findCgroups(name: string): Promise<string[]> {
  return searchAll((entry) => entry === name)
}

/** Finds all cgroups whose name starts with the prefix. */
export async function findCgroupsByPrefix(prefix: string): Promise<string[]> {
  return searchAll((entry) => entry.startsWith(prefix))
}

async function searchAll(matches: (name: string) => boolean): Promise<string[]> {
  const found = await Promise.all((await readHierarchies()).map(async ({ mount }) => search(mount, matches)))
  return found.flat()
}

async function search(directory: string, matches: (name: string) => boolean): Promise<string[]> {
  const names = await listSubdirectories(directory)
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name)
      return matches(name) ? [path] : search(path, matches)
    }),
  )
  return found.flat()
}

/** Lists every process in these cgroups and in the cgroups below them. */
export async function listProcesses(directories: readonly string[]): Promise<number[]> {
  const pids = new Set<number>()
  for (const directory of directories) {
    const lines = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch(() => '')
    // 0 stands for a process outside this PID namespace. The lab must not kill it.
    for (const line of lines.split('\n')) if (Number(line) > 0) pids.add(Number(line))
    const below = (await listSubdirectories(directory)).map((name) => join(directory, name))
    for (const pid of await listProcesses(below)) pids.add(pid)
  }
  return [...pids]
}

/** Removes empty cgroups, the innermost first. */
export async function removeCgroups(directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    await removeCgroups((await listSubdirectories(directory)).map((name) => join(directory, name)))
    await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

async function listSubdirectories(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}
