import { connect } from 'node:tls'
import { z } from 'zod'
import { truncateList } from '../../../kit/text.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import { isKubeError } from '../../../kube/kube-error.ts'
import { toProbeOutcome } from '../../network-probe/port-probes.ts'
import { type NodeObservation, type NodeReader, selectFollowing } from './node-reader.ts'
import type { ProbeApi } from './probe-api.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { failedResult, healthyResult, type ProbeRunner } from './probe-runner.ts'

/**
 * Connect timeout in milliseconds. If the first SYN is lost, a second one is sent after one second. The
 * timeout leaves time for the second one.
 */
const connectTimeoutMs = 2500

/** Checks whether this node can reach other nodes that the API reports as ready. */
export function createPeersProbe(nodes: NodeReader): ProbeRunner<'peer-nodes'> {
  return async ({ node: own, kubeconfig, count }, signal) => {
    const names = selectFollowing(await nodes.listReadyNames(kubeconfig, signal), own, count)
    const findUnreachable = async (name: string): Promise<string | undefined> => {
      const known = await nodes.get(kubeconfig, name, Number.POSITIVE_INFINITY, signal)
      if (known === undefined || (await isReachable(known, signal))) return undefined
      // The node may have been removed or moved since it was read, so read it again. If the API is
      // unreachable, the old data is used.
      const now = await nodes.get(kubeconfig, name, 0, signal).catch(() => known)
      if (now?.ready !== true || (await isReachable(now, signal))) return undefined
      return `${name} (${now.address})`
    }
    const unreachable = (await Promise.all(names.map(findUnreachable))).filter((one) => one !== undefined)
    if (unreachable.length === 0) return healthyResult
    return failedResult('PEERS_UNREACHABLE', `this host cannot reach ${truncateList(unreachable, 3)}`)
  }
}

/**
 * True if the node responds; a refused connection also proves this. A node without an address counts as
 * reachable.
 */
async function isReachable({ address, port }: NodeObservation, signal: AbortSignal): Promise<boolean> {
  if (address === undefined) return true
  const isConnectable = await canConnect({ address, port }, connectTimeoutMs, signal)
  signal.throwIfAborted()
  return isConnectable
}

/**
 * Checks whether a port is reachable. The TLS handshake is completed, because a kubelet logs connections
 * without a handshake. The certificate is not verified, because only the network path matters.
 */
async function canConnect(
  { address, port }: { readonly address: string; readonly port: number },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: address, port, rejectUnauthorized: false })
  // A connection proves that the network path works; later errors concern only the program on the other side.
  let connected = false
  socket.on('connect', () => (connected = true))
  socket.on('secureConnect', () => resolve(true))
  socket.on('error', (error) => resolve(connected || toProbeOutcome(error) === 'refused'))
  const giveUp = (): void => resolve(connected)
  const timer = setTimeout(giveUp, timeoutMs)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    socket.destroySoon()
  }
}

const lease = z.looseObject({ spec: z.looseObject({ renewTime: z.string() }) })

/** Checks whether the node's lease in the API was renewed recently. */
export function createNodeLeaseProbe(api: ProbeApi, clock: ProbeDeps['clock']): ProbeRunner<'node-lease'> {
  return async ({ node, kubeconfig, maxMs }, signal) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${encodeURIComponent(node)}`
    try {
      const { spec } = lease.parse(JSON.parse(await api.text({ kubeconfig, path }, signal)))
      const age = clock.now().getTime() - Date.parse(spec.renewTime)
      if (age <= maxMs) return healthyResult
      return failedResult('NODE_LEASE_OLD', `the last heartbeat of the node was ${formatDuration(age)} ago`)
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND'))
        return failedResult('NODE_LEASE_OLD', 'the node has never sent a heartbeat')
      throw error
    }
  }
}
