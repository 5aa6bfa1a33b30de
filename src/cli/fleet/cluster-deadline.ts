import { HyperkubeError } from '../../kit/errors.ts'
import { formatDuration } from '../../kit/time-format.ts'

/** How long a cluster may take to stop after its deadline, before it is abandoned. */
const stopTimeoutMs = 60_000

/**
 * Runs the work for one cluster until a deadline. After the deadline the work is aborted. If it does not end
 * then, it is abandoned, so that a hung cluster cannot block the others.
 */
export async function withClusterDeadline<T>(
  signal: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  stopMs: number = stopTimeoutMs,
): Promise<T> {
  const deadline = new AbortController()
  const abandoned = Promise.withResolvers<never>()
  const error = new HyperkubeError(
    'FLEET_CLUSTER_TIMEOUT',
    `the cluster was not finished within ${formatDuration(timeoutMs)}`,
    { hint: 'allow more time: --cluster-timeout 2h' },
  )
  const abort = setTimeout(() => deadline.abort(error), timeoutMs)
  const abandon = setTimeout(() => abandoned.reject(error), timeoutMs + stopMs)
  try {
    return await Promise.race([work(AbortSignal.any([signal, deadline.signal])), abandoned.promise])
  } finally {
    clearTimeout(abort)
    clearTimeout(abandon)
  }
}
