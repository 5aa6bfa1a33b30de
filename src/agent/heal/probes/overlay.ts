import { truncateList } from '../../../kit/text.ts'
import { parseValues, toNetworkAddress } from '../../resources/derived-file.ts'
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

/**
 * Compares the pod network in the kernel and in the subnet file with the API. flanneld itself provides no
 * state to query.
 */
export function createOverlayProbe(
  { files, addresses, clock }: Pick<ProbeDeps, 'files' | 'addresses' | 'clock'>,
  nodes: NodeReader,
): ProbeRunner<'overlay'> {
  return async (check, signal) => {
    const link = await checkInterface({ files, addresses }, check.interface)
    if (link.state !== 'healthy') return link
    const subnet = parseSubnet((await files.read(check.subnetFile))?.toString('utf8') ?? '')
    const local = checkSubnet(check, subnet, addresses(check.interface))
    if (local.state !== 'healthy') return local
    // The following checks query the API. If it does not respond, the result is unknown.
    const own = await nodes.get(check.kubeconfig, check.node, ownNodeMaxAgeMs, signal)
    if (own?.pods !== undefined && own.pods !== subnet) {
      // The node may have been recreated since it was read, so the probe reads it again.
      const now = await nodes.get(check.kubeconfig, check.node, 0, signal)
      if (now?.pods !== undefined && now.pods !== subnet) {
        return failedResult(
          'OVERLAY_SUBNET',
          `${check.subnetFile} has ${subnet}, but the pod CIDR of the node is ${now.pods}`,
        )
      }
    }
    const routes = listRoutedNetworks((await files.read('/proc/net/route'))?.toString('utf8') ?? '')
    const isMissing = (node: NodeObservation | undefined): boolean =>
      node !== undefined && mustBeRouted(node, clock.now()) && !routes.has(node.pods ?? '')
    const missing = await findMissingRoutes(nodes, check, isMissing, signal)
    if (missing.length === 0) return healthyResult
    return failedResult('OVERLAY_ROUTES', `there is no route to the pods of ${truncateList(missing, 3)}`)
  }
}

/** Returns the pod subnet of this host from the subnet file of flannel. */
function parseSubnet(text: string): string | undefined {
  return toNetworkAddress(parseValues(text).get('FLANNEL_SUBNET') ?? '')
}

/** Checks whether the interface has the first address of the subnet. */
function checkSubnet(
  { subnetFile, interface: name }: ChecksByKind['overlay'],
  subnet: string | undefined,
  addresses: readonly string[],
): ProbeResult {
  if (subnet === undefined) return failedResult('OVERLAY_SUBNET', `${subnetFile} has no subnet`)
  const [first = ''] = subnet.split('/')
  if (addresses.includes(first)) return healthyResult
  return failedResult(
    'OVERLAY_SUBNET',
    `${subnetFile} has ${subnet}, but ${name} has ${addresses.join(', ')}`,
  )
}

/** True if other hosts must already have a route to the pods of the node. */
function mustBeRouted({ ready, overlay, pods, created }: NodeObservation, now: Date): boolean {
  return ready && overlay && pods !== undefined && now.getTime() - created > settleMs
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

/** Parses /proc/net/route. Returns the networks to which the host has a route, for example 10.244.3.0/24. */
export function listRoutedNetworks(text: string): ReadonlySet<string> {
  const lines = text.split('\n').slice(1)
  return new Set(
    lines.flatMap((line) => {
      const [, destination = '', , flags = '', , , , mask = ''] = line.split('\t')
      const isUsed = (Number.parseInt(flags, 16) & usable) === up
      return isUsed ? [`${toAddress(destination)}/${toPrefixLength(mask)}`] : []
    }),
  )
}

/**
 * Route flag RTF_UP. The mask `usable` also contains RTF_REJECT (0x200), which a usable route does not have.
 */
const up = 0x1
const usable = up | 0x200

/** Converts an address of /proc/net/route, which is little-endian hex. */
function toAddress(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.')
}

function toPrefixLength(hex: string): number {
  return Number.parseInt(hex, 16).toString(2).replaceAll('0', '').length
}

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
