import { type Fact, readRequiredFile } from '../source.ts'

const root = '/sys/fs/cgroup'

/**
 * Detects the cgroup version by the mount at /sys/fs/cgroup, like the kubelet and runc. A version 2 mount
 * elsewhere is ignored.
 */
export const readCgroup: Fact<'cgroup'> = async (source) => {
  const [mounts, known, unified] = await Promise.all([
    readRequiredFile(source, '/proc/self/mountinfo'),
    source.readFile('/proc/cgroups'),
    source.readFile(`${root}/cgroup.controllers`),
  ])
  const found = parseMounts(mounts)
  const own = found.findLast(({ path, type }) => path === root && type === 'cgroup2')
  if (own !== undefined) return { version: 2, controllers: own.writable ? sortWords(unified ?? '') : [] }
  const enabled = enabledControllers(known ?? '')
  const mounted = found.filter(({ type, writable }) => type === 'cgroup' && writable)
  const controllers = mounted.flatMap(({ options }) => options.filter((option) => enabled.has(option)))
  return { version: 1, controllers: [...new Set(controllers)].toSorted() }
}

interface Mount {
  readonly path: string
  readonly type: string
  readonly writable: boolean
  /** Options of the file system. In cgroup version 1 they include the controllers. */
  readonly options: readonly string[]
}

/** Parses the cgroup mounts in /proc/self/mountinfo. */
export function parseMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [mountFields = '', source = ''] = line.split(' - ')
    const [, , , , path = '', own = ''] = mountFields.split(' ')
    const [type = '', , options = ''] = source.split(' ')
    if (type !== 'cgroup' && type !== 'cgroup2') return []
    return [{ path, type, writable: own.split(',').includes('rw'), options: options.split(',') }]
  })
}

/**
 * Parses the enabled controllers from /proc/cgroups. On some boards the memory controller exists but is
 * disabled.
 */
export function enabledControllers(text: string): ReadonlySet<string> {
  const rows = text.split('\n').map((line) => line.split('\t'))
  return new Set(rows.flatMap(([name = '', , , enabled]) => (enabled === '1' ? [name] : [])))
}

function sortWords(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .toSorted()
}
