import { truncateList } from '../../../kit/text.ts'
import { parseValues, toNetworkAddress } from '../../resources/derived-file.ts'
import { readRoutedNetworks } from './kernel-routes.ts'
import { type NodeObservation, type NodeReader, selectFollowing } from './node-reader.ts'
import type { ProbeDeps } from './probe-deps.ts'
import {
  type ChecksByKind,
  failedResult,
  healthyResult,
  type ProbeResult,
  type ProbeRunner,
  unknownResult,
} from './probe-runner.ts'

/** Milliseconds for which the host's own node is cached. Its subnet changes only if the node is recreated. */
const ownNodeMaxAgeMs = 60_000

/** Milliseconds that flannel on other hosts may take to notice a new node. */
const settleMs = 60_000

/**
 * Maximum number of nodes whose routes are checked. In larger clusters only the nodes that follow this node
 * by name are checked. This sample is sufficient, because an interface usually loses all routes at once.
 */
const maxNodes = 32

/** The part of the overlay network that has one address family. */
interface OverlayPart {
  readonly family: 4 | 6
  readonly interface: string
  /** Name of the subnet in the subnet file of flannel. */
  readonly variable: string
}

function listParts({ interface: name, ipv6Interface }: ChecksByKind['overlay']): readonly OverlayPart[] {
  return [
    { family: 4, interface: name, variable: 'FLANNEL_SUBNET' },
    ...(ipv6Interface === undefined
      ? []
      : [{ family: 6, interface: ipv6Interface, variable: 'FLANNEL_IPV6_SUBNET' } as const]),
  ]
}

/**
 * Compares the pod network in the kernel and in the subnet file with the API. flanneld itself provides no
 * state to query.
 */
export function createOverlayProbe(
  { files, addresses, clock }: Pick<ProbeDeps, 'files' | 'addresses' | 'clock'>,
  nodes: NodeReader,
): ProbeRunner<'overlay'> {
  return async (check, signal) => {
    const parts = listParts(check)
    for (const part of parts) {
      const link = await checkInterface({ files, addresses }, part.interface)
      if (link.state !== 'healthy') return link
    }
    const values = parseValues((await files.read(check.subnetFile))?.toString('utf8') ?? '')
    const subnets = parts.map(({ variable }) => toNetworkAddress(values.get(variable) ?? ''))
    for (const [index, part] of parts.entries()) {
      const local = checkSubnet(check, part, subnets[index], addresses(part.interface))
      if (local.state !== 'healthy') return local
    }
    // The following checks query the API. If it does not respond, the result is unknown.
    const hasOther = (node: NodeObservation | undefined): boolean =>
      node !== undefined && node.pods.length > 0 && !subnets.every((one) => node.pods.includes(one ?? ''))
    if (hasOther(await nodes.get(check.kubeconfig, check.node, ownNodeMaxAgeMs, signal))) {
      // The node may have been recreated since it was read, so the probe reads it again.
      const now = await nodes.get(check.kubeconfig, check.node, 0, signal)
      if (hasOther(now)) {
        return failedResult(
          'OVERLAY_SUBNET',
          `${check.subnetFile} has ${subnets.join(', ')}, but the pod CIDR of the node is ${now?.pods.join(', ')}`,
        )
      }
    }
    const routes = await readRoutedNetworks(
      { files },
      parts.map(({ family }) => family),
    )
    const isMissing = (node: NodeObservation | undefined): boolean =>
      node !== undefined &&
      mustBeRouted(node, clock.now()) &&
      node.pods.slice(0, parts.length).some((network) => !routes.has(network))
    const missing = await findMissingRoutes(nodes, check, isMissing, signal)
    if (missing.length === 0) return healthyResult
    return failedResult('OVERLAY_ROUTES', `there is no route to the pods of ${truncateList(missing, 3)}`)
  }
}

/** Checks whether the interface has the first address of the subnet. */
function checkSubnet(
  { subnetFile }: ChecksByKind['overlay'],
  { interface: name }: OverlayPart,
  subnet: string | undefined,
  addresses: readonly string[],
): ProbeResult {
  if (subnet === undefined) return failedResult('OVERLAY_SUBNET', `${subnetFile} has no subnet for ${name}`)
  const [first = ''] = subnet.split('/')
  if (addresses.includes(first)) return healthyResult
  return failedResult(
    'OVERLAY_SUBNET',
    `${subnetFile} has ${subnet}, but ${name} has ${addresses.join(', ')}`,
  )
}

/** True if other hosts must already have a route to the pods of the node. */
function mustBeRouted({ ready, overlay, pods, created }: NodeObservation, now: Date): boolean {
  return ready && overlay && pods.length > 0 && now.getTime() - created > settleMs
}

/** Returns the names of nodes to which this host has no route although the API still lists them. */
async function findMissingRoutes(
  nodes: NodeReader,
  { kubeconfig, node: own }: ChecksByKind['overlay'],
  isMissing: (node: NodeObservation | undefined) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const name of selectFollowing(await nodes.listReadyNames(kubeconfig, signal), own, maxNodes)) {
    if (!isMissing(await nodes.get(kubeconfig, name, Number.POSITIVE_INFINITY, signal))) continue
    // The cached node may be outdated, so the node is read again before it is reported.
    if (isMissing(await nodes.get(kubeconfig, name, 0, signal))) missing.push(name)
    if (missing.length === maxReported) break
  }
  return missing
}

/** Maximum number of reported nodes. */
const maxReported = 3

type InterfaceDeps = Pick<ProbeDeps, 'files' | 'addresses'>

/** Checks whether a network interface exists and is up. */
export function createInterfaceProbe(network: InterfaceDeps): ProbeRunner<'interface'> {
  return async ({ name }) => checkInterface(network, name)
}

/**
 * Checks whether an interface exists and is up. Does not use /sys, which may show another network namespace
 * in a container.
 */
async function checkInterface({ files, addresses }: InterfaceDeps, name: string): Promise<ProbeResult> {
  if (addresses(name).length > 0) return healthyResult
  const lines = (await files.read('/proc/net/dev'))?.toString('utf8').split('\n') ?? []
  return lines.some((line) => line.trimStart().startsWith(`${name}:`))
    ? failedResult('OVERLAY_INTERFACE', `the interface ${name} is down or has no address`)
    : failedResult('OVERLAY_INTERFACE', `there is no interface ${name}`)
}

/** Checks whether an HNS network exists and has the expected type. */
export function createHnsNetworkProbe({ networks }: Pick<ProbeDeps, 'networks'>): ProbeRunner<'hns-network'> {
  return async ({ name, type }) => {
    if (networks === undefined) return unknownResult('HNS networks exist only on Windows')
    const found = await networks()
    if (found === undefined) return failedResult('OVERLAY_NETWORK', 'HNS does not respond')
    const match = found.find((network) => network.name === name)
    if (match === undefined) return failedResult('OVERLAY_NETWORK', `there is no network ${name}`)
    return match.type === type
      ? healthyResult
      : failedResult('OVERLAY_NETWORK', `the network ${name} has type ${match.type}, not ${type}`)
  }
}
