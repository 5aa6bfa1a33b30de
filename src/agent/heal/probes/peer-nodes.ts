import { truncateList } from '../../../kit/truncate-list.ts'
import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import { canConnect } from './greet.ts'
import { selectFollowing, type NodeObservation, type NodeReader } from './node-reader.ts'

/** In milliseconds; a lost SYN is sent again after one second. */
const connectTimeoutMs = 2500

/** Checks whether other nodes that the API reports as ready can be reached from here. */
export function createPeersProbe(nodes: NodeReader): ProbeRunner<'peer-nodes'> {
  return async ({ node: own, kubeconfig, count }, signal) => {
    const names = selectFollowing(await nodes.listReadyNames(kubeconfig, signal), own, count)
    const findUnreachable = async (name: string): Promise<string | undefined> => {
      const known = await nodes.get(kubeconfig, name, Number.POSITIVE_INFINITY, signal)
      if (known === undefined || (await isReachable(known, signal))) return undefined
      // The node may be gone or moved since it was read. If the API is unreachable, the old data counts.
      const now = await nodes.get(kubeconfig, name, 0, signal).catch(() => known)
      if (now?.ready !== true || (await isReachable(now, signal))) return undefined
      return `${name} (${now.address})`
    }
    const unreachable = (await Promise.all(names.map(findUnreachable))).filter((one) => one !== undefined)
    if (unreachable.length === 0) return healthyResult
    return failedResult('PEERS_UNREACHABLE', `no way from here to ${truncateList(unreachable, 3)}`)
  }
}

/** A refused connection proves that the node is there. A node without an address counts as reachable. */
async function isReachable({ address, port }: NodeObservation, signal: AbortSignal): Promise<boolean> {
  if (address === undefined) return true
  const isConnectable = await canConnect({ address, port }, connectTimeoutMs, signal)
  signal.throwIfAborted()
  return isConnectable
}
