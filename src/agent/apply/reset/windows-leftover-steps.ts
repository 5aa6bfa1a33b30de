import type { Ledger } from '../../../contract/ledger.ts'
import { firewallGroup, type WindowsNetwork, windowsNetworkFile } from '../../../contract/windows-network.ts'
import type { WindowsHost } from '../../host/host.ts'
import { isWithin, join } from '../../host/host-path.ts'
import { networkFrom } from '../../windows/heal/build-worker-spec.ts'
import { readWorkerMemory } from '../../windows/heal/reconcile-state.ts'
import type { LeftoverStep } from './leftover-steps.ts'

/** Between two looks, in milliseconds. */
const pause = 500
/** How often a process is ended that does not go. */
const tries = 20

/** What programs write outside of our own directory. Where their services were never ours, neither is any of this. */
const dataOf: Readonly<Record<string, readonly string[]>> = {
  kubelet: [String.raw`C:\var\lib\kubelet`, String.raw`C:\var\log\pods`, String.raw`C:\var\log\containers`],
}

/** All that is left of a worker once its services have stopped. Of networks, those of our two names and no others. */
export function windowsSteps(host: WindowsHost, ledger: Ledger): readonly LeftoverStep[] {
  return [
    ['processes', async (signal) => endProcesses(host, signal)],
    ['networks', async (signal) => removeNetworks(host, signal)],
    ['rules', async () => removeRules(host)],
    ['data', async () => removeData(host, ledger)],
  ]
}

/** Containers outlive their runtime: each has a small program of its own above it, which lies beside the runtime. */
async function endProcesses(host: WindowsHost, signal: AbortSignal): Promise<readonly string[]> {
  const { operations, clock, layout, release } = host
  const ended = new Set<string>()
  for (let left = tries; left > 0; left--) {
    const found = await operations.processes.list({ below: layout.base })
    // Neither ourselves nor what has started us.
    const others = found.filter(({ id, parent }) => id !== release.pid && parent !== release.pid)
    if (others.length === 0) break
    for (const { id, program, startedAt } of others) {
      await operations.processes.end({ id, program, startedAt })
      ended.add(`${id} ${program}`)
    }
    await clock.pause(pause, signal)
  }
  return [...ended]
}

/** With the endpoints of pods and with what kube-proxy has made of services. The one that holds the switch goes last. */
async function removeNetworks(host: WindowsHost, signal: AbortSignal): Promise<readonly string[]> {
  const { operations } = host
  const [hns] = await operations.services.list({ names: ['hns'] })
  const network = await keptNetwork(host)
  // Without it there are no networks.
  if (hns?.state !== 'Running' || network?.overlay === undefined) return []
  const names = [network.overlay.network.name, network.overlay.hold.name]
  const removed: string[] = []
  for (const name of names) {
    const own = (await operations.networks.list({})).filter((one) => one.name === name)
    for (const { id } of own) {
      const count = await removeEndpoints(host, id)
      await operations.networks.remove({ id })
      removed.push(`${name}, with ${count} endpoints`)
    }
  }
  if (removed.length > 0) removed.push(...(await giveBackRoutes(host, network, signal)))
  return removed
}

async function removeEndpoints({ operations }: WindowsHost, network: string): Promise<number> {
  const endpoints = (await operations.endpoints.list({})).filter((one) => one.network === network)
  const own = new Set(endpoints.map(({ id }) => id))
  const policies = await operations.policies.list({})
  for (const { id, endpoints: led } of policies)
    if (led.some((endpoint) => own.has(endpoint))) await operations.policies.remove({ id })
  for (const { id } of endpoints) await operations.endpoints.remove({ id })
  return endpoints.length
}

/** The switch that went has taken the routes to the cloud's metadata with it: those that the host had come back. */
async function giveBackRoutes(
  host: WindowsHost,
  { address, metadata }: WindowsNetwork,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { operations, clock } = host
  const { routesBefore = [] } = await readWorkerMemory(host)
  const wanted = metadata.filter((destination) => routesBefore.includes(destination))
  if (wanted.length === 0) return []
  for (let left = tries; left > 0; left--) {
    const adapter = (await operations.adapters.list({})).find(
      ({ up, addresses }) => up && addresses.some((one) => one.address === address),
    )
    const routes = await operations.routes.list({ destinations: ['0.0.0.0/0', ...wanted] })
    const out = routes.find(
      ({ destination, interfaceIndex }) => destination === '0.0.0.0/0' && interfaceIndex === adapter?.index,
    )
    if (adapter !== undefined && out !== undefined) {
      const missing = wanted.filter((one) => !routes.some(({ destination }) => destination === one))
      for (const destination of missing)
        await operations.routes.add({
          destination,
          nextHop: out.nextHop,
          interfaceIndex: adapter.index,
          metric: 1,
        })
      return missing.map((destination) => `the route to ${destination} is given back`)
    }
    await clock.pause(2 * pause, signal)
  }
  return []
}

/** As the last plan had it. */
async function keptNetwork({ files, layout }: WindowsHost): Promise<WindowsNetwork | undefined> {
  const text = (await files.read(join(layout.base, windowsNetworkFile)))?.toString('utf8')
  try {
    return text === undefined ? undefined : networkFrom(text)
  } catch {
    return undefined
  }
}

/** Whatever is in our group, also what the ledger has forgotten. */
async function removeRules({ operations }: WindowsHost): Promise<readonly string[]> {
  const rules = await operations.firewall.list({ group: firewallGroup })
  for (const { name, group } of rules) await operations.firewall.remove({ name, group })
  return rules.map(({ name }) => name)
}

/** All that components have written. What is written down as a directory is only emptied, and goes with all that is. */
async function removeData({ files, layout }: WindowsHost, ledger: Ledger): Promise<readonly string[]> {
  const { things, left } = ledger
  const services = things.filter(({ target }) => target === 'service').map(({ name }) => name)
  const known = services.flatMap((name) => dataOf[name] ?? [])
  const planned = new Set(things.flatMap(({ target, name }) => (target === 'directory' ? [name] : [])))
  const removed: string[] = []
  for (const directory of new Set([...known, ...left])) {
    if (isWithin(directory, layout.own)) continue
    const entries = await files.list(directory)
    if (entries === undefined) continue
    for (const { name } of entries) await files.removeTree(join(directory, name))
    if (!planned.has(directory)) await files.remove(directory)
    removed.push(directory)
  }
  return removed
}
