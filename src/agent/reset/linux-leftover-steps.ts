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

/**
 * Removes network links of pods and the routes through them. The ports of a bridge are links to pods whose network
 * namespaces are gone. The kernel removes these links too, but on a busy host it does so seconds later.
 */
const removeLinks: LinuxLeftoverStep = async ({ packets }, { links }) => {
  const isLeftover = (name: string): boolean => links.some((pattern) => pattern.test(name))
  const present = await packets.links()
  const ports = present.filter(({ bridge }) => bridge !== undefined && isLeftover(bridge))
  const removed = [...ports, ...present.filter(({ name }) => isLeftover(name))].map(({ name }) => name)
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
