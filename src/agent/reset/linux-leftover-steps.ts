import { posix } from 'node:path'
import type { Ledger } from '../../contract/ledger.ts'
import { join } from '../host/host-path.ts'
import type { Host, HostProcess, LinuxHost } from '../host/host.ts'
import { removeChains, removeSets, removeTables } from '../resources/packet-rules.ts'
import { removeIfEmpty } from '../resources/resource-paths.ts'
import { waitFor } from '../resources/wait-for.ts'
import { type Leftovers, type LeftoverStep, type LinuxLeftoverStep, listLeftovers } from './leftovers.ts'

/** Lists the steps, in order, that remove what programs created on a Linux host. */
export function listLinuxLeftoverSteps(host: LinuxHost, ledger: Ledger): readonly LeftoverStep[] {
  const leftovers = listLeftovers(ledger)
  const steps: readonly (readonly [name: string, step: LinuxLeftoverStep])[] = [
    ['containers', killContainers],
    ['mounts', unmountAll],
    ['links', removeLinks],
    ['routes', removeRoutes],
    ['nftables tables', removeNftTables],
    ['iptables chains', removeLeftoverChains],
    ['ipsets', removeLeftoverSets],
    ['control groups', removePodCgroups],
    ['data', removeComponentData],
  ]
  return steps.map(([name, step]) => [name, async (signal) => step(host, leftovers, signal)])
}

/** Removes the cgroups of pods. */
const removePodCgroups: LinuxLeftoverStep = async (host, { cgroups }, signal) => {
  const removed: string[] = []
  for (const name of cgroups) {
    if (name.endsWith('.slice')) await stopSlice(host, name, signal)
    removed.push(...(await host.cgroups.remove(name)))
  }
  return removed
}

/**
 * Stops a slice that systemd created. Otherwise the slice would stay loaded until the next boot. systemd also
 * stops the slices below it.
 */
async function stopSlice({ services, clock }: LinuxHost, name: string, signal: AbortSignal): Promise<void> {
  const isLoaded = async (): Promise<boolean> =>
    ['active', 'deactivating'].includes((await services.show(name)).active)
  if (!(await isLoaded())) return
  await services.stop(name)
  await waitFor(async () => ((await isLoaded()) ? { for: `${name} to stop` } : { found: true }), {
    clock,
    signal,
    emit: () => undefined,
  })
}

/** Milliseconds between two checks whether container processes remain. */
const checkIntervalMs = 100

/**
 * Kills all containers and CNI plugins. Containers outlive the container runtime, because each one has its
 * own shim process. CNI plugins outlive the runtime too, and would create their directory again after its
 * removal.
 */
const killContainers: LinuxLeftoverStep = async ({ processes, clock }, leftovers, signal) => {
  const killed = new Set<number>()
  for (;;) {
    const remaining = findContainerProcesses(await processes.list(), leftovers)
    if (remaining.length === 0) break
    signal.throwIfAborted()
    for (const { pid } of remaining) await processes.kill(pid)
    for (const { pid } of remaining) killed.add(pid)
    await clock.pause(checkIntervalMs, signal)
  }
  return killed.size === 0 ? [] : [`${killed.size} container processes`]
}

/** Finds the shims of these container runtimes and the CNI plugins, with all their descendants. */
export function findContainerProcesses(
  all: readonly HostProcess[],
  { runtimes, plugins }: Pick<Leftovers, 'runtimes' | 'plugins'>,
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

/** Removes the data of components. A directory that is a mount point or in use is only emptied. */
const removeComponentData: LinuxLeftoverStep = async (
  host,
  { directories, onlyEmptied, files, removedIfEmpty },
) => {
  const removed: string[] = []
  for (const directory of directories) {
    if (!(await emptyDirectory(host, directory))) continue
    removed.push(directory)
    if (!onlyEmptied.includes(directory)) await removeIfEmpty(host, directory)
  }
  for (const file of files) if (await host.files.remove(file)) removed.push(file)
  for (const directory of removedIfEmpty) await removeIfEmpty(host, directory)
  return removed
}

/** Deletes the content of a directory. Returns false if the directory does not exist. */
async function emptyDirectory({ files }: Host, directory: string): Promise<boolean> {
  const entries = await files.list(directory)
  if (entries === undefined) return false
  for (const { name } of entries) await files.removeTree(join(directory, name))
  return true
}

/** Removes iptables chains and the rules that jump to them. */
const removeLeftoverChains: LinuxLeftoverStep = async (host, { chains }) => removeChains(host, chains)

/** Removes ipsets. This step comes after the chains, because rules refer to sets. */
const removeLeftoverSets: LinuxLeftoverStep = async (host, { sets }, signal) => removeSets(host, sets, signal)

/** Removes network links of pods and the routes through them. */
const removeLinks: LinuxLeftoverStep = async ({ packets }, { links }) => {
  const podLinks = (await packets.links()).filter((name) => links.some((pattern) => pattern.test(name)))
  for (const name of podLinks) await packets.removeLink(name)
  return podLinks
}

/** Removes routes that do not go through links of pods, such as those that discard packets. */
const removeRoutes: LinuxLeftoverStep = async ({ packets }, { routeProtocols }) => {
  const removed: string[] = []
  for (const protocol of routeProtocols) removed.push(...(await packets.removeRoutes(protocol)))
  return removed
}

const namespaceDirectory = '/run/netns'

const unmountAll: LinuxLeftoverStep = async ({ mounts, files }, { mounts: prefixes }) => {
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

/** Removes the nftables tables that hyperkube's services created. */
const removeNftTables: LinuxLeftoverStep = async (host, { tables }) => removeTables(host, tables)
