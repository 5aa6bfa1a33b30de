import { fileAt, type Machine, manager, newId, putFile, type SimulatedProcess } from './machine.ts'
import { childrenOf, fail, runsSince } from './service-manager.ts'
import { addNetwork, dropNetwork, isUp } from './virtual-switch.ts'

/** The network of pods, as all of them know it. */
export const overlay = 'flannel.4096'

/** What the programs of a node do as time goes by, as far as others can see it. */
export function live(machine: Machine): void {
  for (const process of [...machine.processes.values()]) {
    const known = machine.services.get(process.service)
    const isItsOwn = known?.process === process.id || known?.process === process.parent
    // A program that is damaged ends at once, and one that finds its port or its files taken as well.
    if (known?.state === 'Running' && isItsOwn && (process.damaged || orphanOf(machine, process.service)))
      fail(machine, known, 1)
  }
  for (const network of machine.networks) {
    if (network.adapter !== undefined && isUp(machine)) network.managementAddress = machine.address
  }
  if (isReady(machine, 'kubelet')) machine.cluster.registered = true
  flanneld(machine)
  kubeProxy(machine)
}

function flanneld(machine: Machine): void {
  const { cluster, time } = machine
  const since = runsSince(machine, 'flanneld')
  if (since === undefined || !cluster.registered || time - since < 3000 || !isUp(machine)) return
  // It looks when it starts, and not again.
  if (time - since > 8000) return
  tellSubnet(machine)
  const there = machine.networks.find(({ name }) => name === overlay)
  if (there !== undefined && there.subnet !== cluster.subnet) dropNetwork(machine, there.id)
  if (there?.subnet === cluster.subnet) return
  addNetwork(machine, {
    name: overlay,
    type: 'Overlay',
    subnet: cluster.subnet,
    adapter: 'Ethernet',
    persistent: false,
  })
}

/** What it has got, for whoever reads it, where it was told to write that. */
function tellSubnet(machine: Machine): void {
  const path = argumentOf(machine, 'flanneld', 'subnet-file')
  if (path === undefined) return
  const { subnet } = machine.cluster
  const first = subnet.replace(/\.\d+\//, '.1/')
  const text = `FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=${first}\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n`
  if (fileAt(machine, path)?.content.toString() !== text) putFile(machine, path, text)
}

/** Of the command line of a service. */
function argumentOf(machine: Machine, service: string, name: string): string | undefined {
  const line = machine.services.get(service)?.commandLine ?? ''
  return new RegExp(`"?--${name}=([^"\\s]+)`).exec(line)?.[1]
}

/** It takes all policies away when it starts, waits for the network, and makes its own once. */
function kubeProxy(machine: Machine): void {
  const since = runsSince(machine, 'kube-proxy')
  const process = processOf(machine, 'kube-proxy')
  if (since === undefined || process === undefined || process.network !== undefined) return
  const network = machine.networks.find(({ name }) => name === overlay)
  const address = addressToSendFrom(machine)
  if (network?.type.toLowerCase() !== 'overlay' || !isUp(machine)) return
  if (address === undefined) {
    // source-vip flag not set
    const service = machine.services.get('kube-proxy')
    if (service !== undefined) fail(machine, service, 1)
    return
  }
  process.network = network.id
  const endpoint = { id: newId(machine), name: 'remote', network: network.id, address: '10.0.0.11' }
  machine.endpoints.push(endpoint)
  machine.policies = [{ id: newId(machine), endpoints: [endpoint.id], sourceAddress: address }]
}

/** From its configuration, where it has one. */
function addressToSendFrom(machine: Machine): string | undefined {
  const path = argumentOf(machine, 'kube-proxy', 'config')
  if (path === undefined) return sourceAddress(machine)
  return /sourceVip: "?([\d.]+)/.exec(fileAt(machine, path)?.content.toString() ?? '')?.[1]
}

/** The one that does the work, and not its runner. */
export function processOf(machine: Machine, name: string): SimulatedProcess | undefined {
  const process = machine.services.get(name)?.process ?? 0
  return childrenOf(machine, process)[0] ?? machine.processes.get(process)
}

/** What is left of a service whose runner was killed. */
function orphanOf({ processes }: Machine, name: string): SimulatedProcess | undefined {
  return [...processes.values()].find(
    ({ service, parent }) => service === name && parent !== manager && !processes.has(parent),
  )
}

/** The address that host-local has given to kube-proxy. */
export function sourceAddress({ taken }: Machine): string | undefined {
  return [...(taken.get(overlay) ?? [])].find(([, owner]) => owner === 'kube-proxy')?.[0]
}

/** What a program says when it is asked how it is. */
export function isReady(machine: Machine, name: string): boolean {
  const since = runsSince(machine, name)
  if (since === undefined || machine.time - since < 2000) return false
  if (name === 'kubelet') return runsSince(machine, 'containerd') !== undefined && isUp(machine)
  if (name === 'kube-proxy') return processOf(machine, name)?.network !== undefined
  return true
}
