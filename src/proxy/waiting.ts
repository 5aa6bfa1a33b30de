import type { ConnectionActivity } from './drain-decision.ts'

/**
 * Since when a client, or our own connection attempt, waits for a server that has sent nothing. A successful
 * probe clears all waits that began before it: many last messages of clients need no response, and must not
 * cause urgent probes forever.
 */
export function findWaitingSince(
  connections: Iterable<Pick<ConnectionActivity, 'clientSentAt' | 'serverSentAt'>>,
  lastSlowDialAt: number,
  lastReadyProbeAt: number,
): number | undefined {
  let firstWait = lastSlowDialAt > lastReadyProbeAt ? lastSlowDialAt : Infinity
  let lastReceived = -Infinity
  for (const { clientSentAt, serverSentAt } of connections) {
    lastReceived = Math.max(lastReceived, serverSentAt)
    if (clientSentAt > serverSentAt && clientSentAt > lastReadyProbeAt)
      firstWait = Math.min(firstWait, clientSentAt)
  }
  return firstWait === Infinity ? undefined : Math.max(firstWait, lastReceived)
}
