import type { Ledger } from '../../contract/ledger.ts'
import { firewallGroup, type WindowsNetwork, windowsNetworkFile } from '../../contract/windows-network.ts'
import { isAtOrBelow, join } from '../host/host-path.ts'
import type { WindowsHost } from '../host/host.ts'
import { parseWindowsNetwork, readReconcileState } from '../apply/build-worker-spec.ts'
import type { LeftoverStep } from './leftovers.ts'

/**
 * Milliseconds between two checks for remaining processes. Checks for the restored adapter are twice as far
 * apart.
 */
const checkIntervalMs = 500
/** Maximum number of checks for remaining processes, and also for the restored adapter. */
const tries = 20

/**
 * Data outside hyperkube's base directory, keyed by the service that writes it. If the service is not in the
 * ledger, other software wrote the data, so it stays.
 */
const dataByService: Readonly<Record<string, readonly string[]>> = {
  kubelet: [String.raw`C:\var\lib\kubelet`, String.raw`C:\var\log\pods`, String.raw`C:\var\log\containers`],
}

/**
 * Lists the steps that remove what remains of a worker after its services have stopped. Only the two HNS
 * networks that hyperkube created are removed.
 */
export function listWindowsLeftoverSteps(host: WindowsHost, ledger: Ledger): readonly LeftoverStep[] {
  return [
    ['processes', async (signal) => killProcesses(host, signal)],
    ['networks', async (signal) => removeNetworks(host, signal)],
    ['rules', async () => removeRules(host)],
    ['data', async () => removeData(host, ledger)],
  ]
}

/**
 * Kills all programs that run from hyperkube's base directory. This includes containers' shims, which outlive
 * the container runtime.
 */
async function killProcesses(host: WindowsHost, signal: AbortSignal): Promise<readonly string[]> {
  const { operations, clock, layout, release } = host
  const killed = new Set<string>()
  for (let left = tries; left > 0; left--) {
    const found = await operations.processes.list({ below: layout.base })
    // The agent itself and its children are not killed.
    const others = found.filter(({ id, parent }) => id !== release.pid && parent !== release.pid)
    if (others.length === 0) break
    for (const { id, program, startedAt } of others) {
      await operations.processes.end({ id, program, startedAt })
      killed.add(`${id} ${program}`)
    }
    await clock.pause(checkIntervalMs, signal)
  }
  return [...killed]
}

/**
 * Removes hyperkube's HNS networks with the endpoints of pods and the policies of kube-proxy. The network
 * that holds the virtual switch is removed last.
 */
async function removeNetworks(host: WindowsHost, signal: AbortSignal): Promise<readonly string[]> {
  const { operations } = host
  const [hns] = await operations.services.list({ names: ['hns'] })
  const network = await readLastNetwork(host)
  // Networks can be listed and removed only while HNS runs.
  if (hns?.state !== 'Running' || network?.overlay === undefined) return []
  const names = [network.overlay.network.name, network.overlay.anchor.name]
  const removed: string[] = []
  for (const name of names) {
    const own = (await operations.networks.list({})).filter((one) => one.name === name)
    for (const { id } of own) {
      const count = await removeEndpoints(host, id)
      await operations.networks.remove({ id })
      removed.push(`${name}, with ${count} endpoints`)
    }
  }
  if (removed.length > 0) removed.push(...(await restoreRoutes(host, network, signal)))
  return removed
}

async function removeEndpoints({ operations }: WindowsHost, network: string): Promise<number> {
  const endpoints = (await operations.endpoints.list({})).filter((one) => one.network === network)
  const own = new Set(endpoints.map(({ id }) => id))
  const policies = await operations.policies.list({})
  for (const { id, endpoints: policyEndpoints } of policies)
    if (policyEndpoints.some((endpoint) => own.has(endpoint))) await operations.policies.remove({ id })
  for (const { id } of endpoints) await operations.endpoints.remove({ id })
  return endpoints.length
}

/**
 * Restores the routes to the cloud metadata service that the host had before hyperkube created the virtual
 * switch. Windows removes these routes when the switch is created and again when it is removed.
 */
async function restoreRoutes(
  host: WindowsHost,
  { address, metadata }: WindowsNetwork,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { operations, clock } = host
  const { routesBefore = [] } = await readReconcileState(host)
  const wanted = metadata.filter((destination) => routesBefore.includes(destination))
  if (wanted.length === 0) return []
  for (let left = tries; left > 0; left--) {
    const adapter = (await operations.adapters.list({})).find(
      ({ up, addresses }) => up && addresses.some((one) => one.address === address),
    )
    const routes = await operations.routes.list({ destinations: ['0.0.0.0/0', ...wanted] })
    const defaultRoute = routes.find(
      ({ destination, interfaceIndex }) => destination === '0.0.0.0/0' && interfaceIndex === adapter?.index,
    )
    if (adapter !== undefined && defaultRoute !== undefined) {
      const missing = wanted.filter((one) => !routes.some(({ destination }) => destination === one))
      for (const destination of missing)
        await operations.routes.add({
          destination,
          nextHop: defaultRoute.nextHop,
          interfaceIndex: adapter.index,
          metric: 1,
        })
      return missing.map((destination) => `restored the route to ${destination}`)
    }
    await clock.pause(2 * checkIntervalMs, signal)
  }
  return []
}

/** Reads the network settings of the last plan. */
async function readLastNetwork({ files, layout }: WindowsHost): Promise<WindowsNetwork | undefined> {
  const text = (await files.read(join(layout.base, windowsNetworkFile)))?.toString('utf8')
  try {
    return text === undefined ? undefined : parseWindowsNetwork(text)
  } catch {
    return undefined
  }
}

/** Removes all firewall rules of hyperkube's group, including those that are not in the ledger. */
async function removeRules({ operations }: WindowsHost): Promise<readonly string[]> {
  const rules = await operations.firewall.list({ group: firewallGroup })
  for (const { name, group } of rules) await operations.firewall.remove({ name, group })
  return rules.map(({ name }) => name)
}

/**
 * Removes the data of components. A directory that is in the ledger is only emptied here and removed later,
 * together with the other resources.
 */
async function removeData({ files, layout }: WindowsHost, ledger: Ledger): Promise<readonly string[]> {
  const { resources, retainedDirectories } = ledger
  const services = resources.filter(({ target }) => target === 'service').map(({ name }) => name)
  const known = services.flatMap((name) => dataByService[name] ?? [])
  const planned = new Set(resources.flatMap(({ target, name }) => (target === 'directory' ? [name] : [])))
  const removed: string[] = []
  for (const directory of new Set([...known, ...retainedDirectories])) {
    if (isAtOrBelow(directory, layout.ownDirectories)) continue
    const entries = await files.list(directory)
    if (entries === undefined) continue
    for (const { name } of entries) await files.removeTree(join(directory, name))
    if (!planned.has(directory)) await files.remove(directory)
    removed.push(directory)
  }
  return removed
}
