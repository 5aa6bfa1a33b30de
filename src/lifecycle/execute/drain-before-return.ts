import { formatError, hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'
import type { ClusterWaitOptions } from '../etcd/membership.ts'

/** Container runtime of the nodes of hyperkube. */
const ownRuntime = 'containerd'

/**
 * Drains a moved node before another container runtime returns there. Its pods end then, and Services would send
 * requests to them until the kubelet reports this. A node that is not ready is not drained, because a rollback must
 * work in a broken cluster too. A node that has not moved keeps its pods.
 */
export async function drainBeforeReturn(
  host: string,
  client: Pick<ClusterClient, 'nodesReady' | 'drain'>,
  wait: ClusterWaitOptions,
): Promise<void> {
  const reason = await client.nodesReady([host], ownRuntime).catch(formatError)
  if (reason !== undefined) return
  try {
    await client.drain(host, { ...wait, lost: false })
  } catch (error) {
    if (!(error instanceof HyperkubeError) || !hasCode(error, 'DRAIN_BLOCKED')) throw error
    const hint = 'to end these pods without waiting: hyperkube adopt rollback --no-drain'
    throw new HyperkubeError(error.code, error.message, {
      hint: error.hint === undefined ? hint : `${error.hint}; ${hint}`,
      cause: error.cause,
    })
  }
}
