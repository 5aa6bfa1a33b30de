import {
  findFile,
  type Machine,
  managerProcessId,
  newId,
  writeMachineFile,
  type SimulatedProcess,
} from './machine.ts'
import { listChildren, failService, findRunningSince } from './service-manager.ts'
import { addNetwork, removeNetwork, isUp } from './virtual-switch.ts'

/** Name of the pod network. */
export const overlayNetwork = 'flannel.4096'

/** Simulates the visible behaviour of the node programs. */
export function runPrograms(machine: Machine): void {
  for (const process of [...machine.processes.values()]) {
    const known = machine.services.get(process.service)
    const isOfService = known?.process === process.id || known?.process === process.parent
    // A program ends at once if it is damaged, or if an orphaned process of its service holds its port and
    // files.
    if (
      known?.state === 'Running' &&
      isOfService &&
      (process.damaged || findOrphan(machine, process.service))
    )
      failService(machine, known, 1)
  }
  for (const network of machine.networks) {
    if (network.adapter !== undefined && isUp(machine)) network.managementAddress = machine.address
  }
  if (isProgramReady(machine, 'kubelet')) machine.cluster.registered = true
  runFlanneld(machine)
  runKubeProxy(machine)
}

function runFlanneld(machine: Machine): void {
  const { cluster, time } = machine
  const since = findRunningSince(machine, 'flanneld')
  if (since === undefined || !cluster.registered || time - since < 3000 || !isUp(machine)) return
  // flanneld checks the network only in the first seconds after its start.
  if (time - since > 8000) return
  writeSubnetFile(machine)
  const existing = machine.networks.find(({ name }) => name === overlayNetwork)
  if (existing !== undefined && existing.subnet !== cluster.subnet) removeNetwork(machine, existing.id)
  if (existing?.subnet === cluster.subnet) return
  addNetwork(machine, {
    name: overlayNetwork,
    type: 'Overlay',
    subnet: cluster.subnet,
    adapter: 'Ethernet',
    persistent: false,
  })
}

/** Writes the subnet file of flanneld if the command line of flanneld contains the path of this file. */
function writeSubnetFile(machine: Machine): void {
  const path = readArgument(machine, 'flanneld', 'subnet-file')
  if (path === undefined) return
  const { subnet } = machine.cluster
  const first = subnet.replace(/\.\d+\//, '.1/')
  const text = `FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=${first}\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n`
  if (findFile(machine, path)?.content.toString() !== text) writeMachineFile(machine, path, text)
}

/** Reads a flag from the command line of a service. */
function readArgument(machine: Machine, service: string, name: string): string | undefined {
  const line = machine.services.get(service)?.commandLine ?? ''
  return new RegExp(`"?--${name}=([^"\\s]+)`).exec(line)?.[1]
}

/**
 * Simulates kube-proxy, which waits for the network and then replaces all policies with its own. Each
 * kube-proxy process does this once.
 */
function runKubeProxy(machine: Machine): void {
  const since = findRunningSince(machine, 'kube-proxy')
  const process = findProcess(machine, 'kube-proxy')
  if (since === undefined || process === undefined || process.network !== undefined) return
  const network = machine.networks.find(({ name }) => name === overlayNetwork)
  const address = readSourceAddress(machine)
  if (network?.type.toLowerCase() !== 'overlay' || !isUp(machine)) return
  if (address === undefined) {
    // The real kube-proxy also exits if it has no source VIP.
    const service = machine.services.get('kube-proxy')
    if (service !== undefined) failService(machine, service, 1)
    return
  }
  process.network = network.id
  const endpoint = { id: newId(machine), name: 'remote', network: network.id, address: '10.0.0.11' }
  machine.endpoints.push(endpoint)
  machine.policies = [{ id: newId(machine), endpoints: [endpoint.id], sourceAddress: address }]
}

/**
 * Returns the source address of kube-proxy from its configuration file. Without --config, returns the address
 * that host-local has reserved for kube-proxy.
 */
function readSourceAddress(machine: Machine): string | undefined {
  const path = readArgument(machine, 'kube-proxy', 'config')
  if (path === undefined) return findSourceAddress(machine)
  return /sourceVip: "?([\d.]+)/.exec(findFile(machine, path)?.content.toString() ?? '')?.[1]
}

/** Returns the process of the program, not that of its wrapper. */
export function findProcess(machine: Machine, name: string): SimulatedProcess | undefined {
  const process = machine.services.get(name)?.process ?? 0
  return listChildren(machine, process)[0] ?? machine.processes.get(process)
}

/** Finds a process of a service whose wrapper was killed. */
function findOrphan({ processes }: Machine, name: string): SimulatedProcess | undefined {
  return [...processes.values()].find(
    ({ service, parent }) => service === name && parent !== managerProcessId && !processes.has(parent),
  )
}

/** Returns the address that host-local has reserved for kube-proxy. */
export function findSourceAddress({ taken }: Machine): string | undefined {
  return [...(taken.get(overlayNetwork) ?? [])].find(([, owner]) => owner === 'kube-proxy')?.[0]
}

/** True if the health endpoint of a program would report success. */
export function isProgramReady(machine: Machine, name: string): boolean {
  const since = findRunningSince(machine, name)
  if (since === undefined || machine.time - since < 2000) return false
  if (name === 'kubelet') return findRunningSince(machine, 'containerd') !== undefined && isUp(machine)
  if (name === 'kube-proxy') return findProcess(machine, name)?.network !== undefined
  return true
}
