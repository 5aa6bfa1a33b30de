import { connect } from 'node:tls'
import { truncateList } from '../../../kit/truncate-list.ts'
import { toProbeOutcome } from '../../network-probe/probe-outcome.ts'
import { type NodeObservation, type NodeReader, selectFollowing } from './node-reader.ts'
import { failedResult, healthyResult, type ProbeRunner } from './probe-runner.ts'

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

/**
 * Checks whether a port is reachable, with a complete TLS handshake: a kubelet logs a line about every
 * connection without one. Only the path matters, so no certificate is verified and nothing is sent.
 */
async function canConnect(
  { address, port }: { readonly address: string; readonly port: number },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: address, port, rejectUnauthorized: false })
  // Once connected, the path is open; later errors concern only the program at the other end.
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
