import type { LinuxHost } from '../host/host.ts'
import { killContainerProcesses, unmountBelow } from '../resources/containers.ts'
import { removeChains, removeSets, removeTables } from '../resources/packet-rules.ts'
import { emptyDirectory, removeIfEmpty } from '../resources/resource-paths.ts'
import { waitFor } from '../resources/wait-for.ts'
import { type LedgerNames, type LeftoverStep, type LinuxLeftoverStep, listLeftovers } from './leftovers.ts'

/** Lists the steps, in order, that remove what programs created on a Linux host. */
export function listLinuxLeftoverSteps(host: LinuxHost, ledger: LedgerNames): readonly LeftoverStep[] {
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

/**
 * Kills all containers and CNI plugins. Containers outlive the container runtime, because each one has its
 * own shim process. CNI plugins outlive the runtime too, and would create their directory again after its
 * removal.
 */
const killContainers: LinuxLeftoverStep = async (host, leftovers, signal) => {
  const killed = await killContainerProcesses(host, leftovers, signal)
  return killed === 0 ? [] : [`${killed} container processes`]
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

/** Removes iptables chains and the rules that jump to them. */
const removeLeftoverChains: LinuxLeftoverStep = async (host, { chains }) => removeChains(host, chains)

/** Removes ipsets. This step comes after the chains, because rules refer to sets. */
const removeLeftoverSets: LinuxLeftoverStep = async (host, { sets }, signal) => removeSets(host, sets, signal)

/** Names of links to pods, as the CNI plugins create them. */
const podLink = /^veth[0-9a-f]{8}$/

/**
 * Removes network links of pods and the routes through them. Links to pods are ports of a bridge, and the network
 * namespaces of the pods are gone. The kernel removes these links too, but on a busy host it does so seconds later.
 * Other ports stay: an administrator added them, and physical interfaces cannot be removed.
 */
const removeLinks: LinuxLeftoverStep = async ({ packets }, { links }) => {
  const isLeftover = (name: string): boolean => links.some((pattern) => pattern.test(name))
  const present = await packets.links()
  const ports = present.filter(
    ({ name, bridge }) => bridge !== undefined && isLeftover(bridge) && podLink.test(name),
  )
  // A link may be a port and match a pattern.
  const leftovers = new Set([...ports, ...present.filter(({ name }) => isLeftover(name))])
  const removed = [...leftovers].map(({ name }) => name)
  for (const name of removed) await packets.removeLink(name)
  return removed
}

/** Removes routes that do not go through links of pods, such as those that discard packets. */
const removeRoutes: LinuxLeftoverStep = async ({ packets }, { routeProtocols }) => {
  const removed: string[] = []
  for (const protocol of routeProtocols) removed.push(...(await packets.removeRoutes(protocol)))
  return removed
}

const unmountAll: LinuxLeftoverStep = async (host, { mounts }) => unmountBelow(host, mounts)

/** Removes the nftables tables that hyperkube's services created. */
const removeNftTables: LinuxLeftoverStep = async (host, { tables }) => removeTables(host, tables)
