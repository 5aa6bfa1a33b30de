import { truncateList } from '../../../kit/truncate-list.ts'
import { toNetworkAddress, parseValues } from '../../apply/render-derived.ts'
import type { ProbeResult } from '../probe-result.ts'
import { type ProbeRunner, type ChecksByKind, failedResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { checkInterface } from './interface.ts'
import { selectFollowing, type NodeObservation, type NodeReader } from './node-reader.ts'
import { listRoutedNetworks } from './routes.ts'

/** Milliseconds for which this node is cached. Its subnet changes only if the node is recreated. */
const ownNodeMaxAgeMs = 60_000

/** Milliseconds that flannel on other hosts may take to notice a new node. */
const settleMs = 60_000

/**
 * Maximum number of nodes whose routes are checked. Larger clusters check the next nodes by name, because an
 * interface usually loses all routes at once.
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
      // The node may have been recreated since it was read.
      const now = await nodes.get(check.kubeconfig, check.node, 0, signal)
      if (now?.pods !== undefined && now.pods !== subnet) {
        return failedResult(
          'OVERLAY_SUBNET',
          `${check.subnetFile} says ${subnet}, and the node was given ${now.pods}`,
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
  if (subnet === undefined) return failedResult('OVERLAY_SUBNET', `${subnetFile} names no network`)
  const [first = ''] = subnet.split('/')
  if (addresses.includes(first)) return healthyResult
  return failedResult(
    'OVERLAY_SUBNET',
    `${subnetFile} says ${subnet}, and ${name} has ${addresses.join(', ')}`,
  )
}

/** True if other hosts must already have a route to the pods of this node. */
function mustBeRouted({ ready, overlay, pods, created }: NodeObservation, now: Date): boolean {
  return ready && overlay && pods !== undefined && now.getTime() - created > settleMs
}

/** Returns the names of nodes that have no route although the API still lists them. */
async function findMissingRoutes(
  nodes: NodeReader,
  { kubeconfig, node: own }: ChecksByKind['overlay'],
  isMissing: (node: NodeObservation | undefined) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const name of selectFollowing(await nodes.listReadyNames(kubeconfig, signal), own, maxNodes)) {
    if (!isMissing(await nodes.get(kubeconfig, name, Number.POSITIVE_INFINITY, signal))) continue
    // The cached node may be outdated, so confirm with the API before reporting it.
    if (isMissing(await nodes.get(kubeconfig, name, 0, signal))) missing.push(name)
    if (missing.length === maxReported) break
  }
  return missing
}

/** Maximum number of reported nodes. */
const maxReported = 3
