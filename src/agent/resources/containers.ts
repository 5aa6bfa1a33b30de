import { posix } from 'node:path'
import type { HostProcess, LinuxHost } from '../host/host.ts'

/** Processes of containers: those of a container runtime, and CNI plugins that it has started. */
export interface ContainerProcesses {
  /** Sockets of container runtimes. The command line of a shim contains the socket of its runtime. */
  readonly runtimes: readonly string[]
  /** Path prefixes of CNI plugins. */
  readonly plugins: readonly string[]
}

/** Milliseconds between two checks whether container processes remain. */
const checkIntervalMs = 100

/** Kills containers and CNI plugins, and waits until they have ended. Returns their number. */
export async function killContainerProcesses(
  { processes, clock }: Pick<LinuxHost, 'processes' | 'clock'>,
  containers: ContainerProcesses,
  signal: AbortSignal,
): Promise<number> {
  const killed = new Set<number>()
  for (;;) {
    const remaining = findContainerProcesses(await processes.list(), containers)
    if (remaining.length === 0) return killed.size
    signal.throwIfAborted()
    for (const { pid } of remaining) await processes.kill(pid)
    for (const { pid } of remaining) killed.add(pid)
    await clock.pause(checkIntervalMs, signal)
  }
}

/** Finds the shims of these container runtimes and the CNI plugins, with all their descendants. */
export function findContainerProcesses(
  all: readonly HostProcess[],
  { runtimes, plugins }: ContainerProcesses,
): HostProcess[] {
  const children = Map.groupBy(all, ({ parent }) => parent)
  const withDescendants = (one: HostProcess): HostProcess[] => [
    one,
    ...(children.get(one.pid) ?? []).flatMap(withDescendants),
  ]
  const isPlugin = ({ argv: [path = ''] }: HostProcess): boolean =>
    plugins.some((prefix) => path.startsWith(prefix))
  return all.filter((one) => isShim(one, runtimes) || isPlugin(one)).flatMap(withDescendants)
}

function isShim({ argv }: HostProcess, runtimes: readonly string[]): boolean {
  const address = argv[argv.indexOf('-address') + 1]
  return posix.basename(argv[0] ?? '').startsWith('containerd-shim') && runtimes.includes(address ?? '')
}

/** True if containers of Docker run. They may outlive Docker, for example after it has crashed. */
export async function runsDockerContainers({ processes }: Pick<LinuxHost, 'processes'>): Promise<boolean> {
  return (await processes.list()).some(
    ({ argv }) =>
      posix.basename(argv[0] ?? '').startsWith('containerd-shim') &&
      argv[argv.indexOf('-namespace') + 1] === 'moby',
  )
}

const namespaceDirectory = '/run/netns'

/** Unmounts everything below the prefixes. Returns the paths that were mounted. */
export async function unmountBelow(
  { mounts, files }: Pick<LinuxHost, 'mounts' | 'files'>,
  prefixes: readonly string[],
): Promise<readonly string[]> {
  const mounted = (await mounts.list()).filter((path) => prefixes.some((prefix) => isBelow(path, prefix)))
  for (const path of mounted) await mounts.unmount(path)
  const removedNamespaces = prefixes.some((prefix) => prefix.startsWith(namespaceDirectory))
    ? await removeNamespaces({ files })
    : []
  return [...mounted, ...removedNamespaces]
}

/**
 * True if a mount is below a prefix. A prefix that ends with a dash is the beginning of a name. A mount at
 * the prefix itself belongs to the administrator, so the result for it is false.
 */
function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix.endsWith('-') ? prefix : `${prefix}/`)
}

/**
 * Removes network namespaces of pods. An unmounted namespace is only a plain file, so deleting the file is
 * sufficient.
 */
async function removeNamespaces({ files }: Pick<LinuxHost, 'files'>): Promise<string[]> {
  const entries = (await files.list(namespaceDirectory)) ?? []
  const podNamespaces = entries
    .filter(({ name }) => name.startsWith('cni-'))
    .map(({ name }) => `${namespaceDirectory}/${name}`)
  for (const path of podNamespaces) await files.remove(path)
  return podNamespaces
}
