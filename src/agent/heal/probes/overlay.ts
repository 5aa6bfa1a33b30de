import { firstFew } from '../../../kit/truncate-list.ts'
import { networkOf, valuesIn } from '../../apply/render-derived.ts'
import type { Seen } from '../probe-result.ts'
import { type Ask, type Checks, failed, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'
import { lookAtInterface } from './interface.ts'
import { following, type NodeSeen, type Nodes } from './node-reader.ts'
import { routedNetworks } from './routes.ts'

/** What a node was given does not change, but for one that is made anew. */
const ownAge = 60_000

/** Flannel everywhere needs its time to hear of a node, in milliseconds. */
const youth = 60_000

/**
 * How many nodes are looked for: in most clusters all of them, in a large one those that follow by name. Where routes are
 * lost, they are lost by the interface, all at once.
 */
const most = 32

/** Nothing of the network of pods lives in flanneld itself: it is what the kernel and a file say, held against the API. */
export function askOverlay(
  { files, addresses, clock }: Pick<ProbeEdges, 'files' | 'addresses' | 'clock'>,
  nodes: Nodes,
): Ask<'overlay'> {
  return async (check, signal) => {
    const link = await lookAtInterface({ files, addresses }, check.interface)
    if (link.state !== 'well') return link
    const subnet = subnetIn((await files.read(check.subnetFile))?.toString('utf8') ?? '')
    const local = lookAtSubnet(check, subnet, addresses(check.interface))
    if (local.state !== 'well') return local
    // From here on others are asked: what they do not answer is not known.
    const own = await nodes.one(check.kubeconfig, check.node, ownAge, signal)
    if (own?.pods !== undefined && own.pods !== subnet) {
      // The node may have been made anew since it was asked about.
      const now = await nodes.one(check.kubeconfig, check.node, 0, signal)
      if (now?.pods !== undefined && now.pods !== subnet) {
        return failed(
          'OVERLAY_SUBNET',
          `${check.subnetFile} says ${subnet}, and the node was given ${now.pods}`,
        )
      }
    }
    const routes = routedNetworks((await files.read('/proc/net/route'))?.toString('utf8') ?? '')
    const isMissing = (node: NodeSeen | undefined): boolean =>
      node !== undefined && isDue(node, clock.now()) && !routes.has(node.pods ?? '')
    const missing = await lookForRoutes(nodes, check, isMissing, signal)
    if (missing.length === 0) return well
    return failed('OVERLAY_ROUTES', `there is no route to the pods of ${firstFew(missing, 3)}`)
  }
}

/** The network that this host's pods have, as flannel has written it down. */
function subnetIn(text: string): string | undefined {
  return networkOf(valuesIn(text).get('FLANNEL_SUBNET') ?? '')
}

/** The interface has the first address of it. */
function lookAtSubnet(
  { subnetFile, interface: name }: Checks['overlay'],
  subnet: string | undefined,
  addresses: readonly string[],
): Seen {
  if (subnet === undefined) return failed('OVERLAY_SUBNET', `${subnetFile} names no network`)
  const [first = ''] = subnet.split('/')
  if (addresses.includes(first)) return well
  return failed('OVERLAY_SUBNET', `${subnetFile} says ${subnet}, and ${name} has ${addresses.join(', ')}`)
}

/** Whether others must know of the way to its pods by now. */
function isDue({ ready, overlay, pods, created }: NodeSeen, now: Date): boolean {
  return ready && overlay && pods !== undefined && now.getTime() - created > youth
}

/** Names of nodes without a route, of which the API says at this moment that they are there. */
async function lookForRoutes(
  nodes: Nodes,
  { kubeconfig, node: own }: Checks['overlay'],
  isMissing: (node: NodeSeen | undefined) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const name of following(await nodes.names(kubeconfig, signal), own, most)) {
    if (!isMissing(await nodes.one(kubeconfig, name, Number.POSITIVE_INFINITY, signal))) continue
    // What is kept of it may be old, and the node gone or made anew: nobody is accused by hearsay.
    if (isMissing(await nodes.one(kubeconfig, name, 0, signal))) missing.push(name)
    if (missing.length === enough) break
  }
  return missing
}

/** More would be asked about in vain. */
const enough = 3
