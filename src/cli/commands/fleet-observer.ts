import type { Readable } from 'node:stream'
import { formatError } from '../../kit/errors.ts'
import { readLines } from '../../kit/lines.ts'
import { isValidCluster } from '../../workspace/fleet-clusters.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { createCachingFleetReader, type ReadFleetFile } from '../../workspace/load-fleet.ts'
import { type CommandContext, exitCodes, type LeafCommand } from '../command/command.ts'
import { observeFleetCluster } from '../fleet/observe-fleet-cluster.ts'
import { type ObserveRequest, observeRequest, type ObserveResponse } from '../fleet/observer-protocol.ts'
import { shareKnownHosts } from '../fleet/select-fleet.ts'

export const fleetObserverCommand: LeafCommand = {
  examples: [
    [
      'echo REQUEST | hyperkube fleet-observer',
      'observe the clusters of requests; one JSON document per line',
    ],
  ],
  sharedFlags: [],
  configure: () => undefined,
  async run(context) {
    await serveObservations(context, process.stdin)
    return exitCodes.ok
  },
}

/**
 * Responds to each request until the input ends. Requests are handled at the same time. A line that is not a
 * request ends this, because no response could name it.
 */
export async function serveObservations(context: CommandContext, requests: Readable): Promise<void> {
  const shared = shareKnownHosts(context)
  const readFleet = createCachingFleetReader(context)
  const pending = new Set<Promise<void>>()
  const respond = async (request: ObserveRequest): Promise<void> => {
    const response = await observe(shared, readFleet, request).catch((error: unknown): ObserveResponse => ({
      file: request.file,
      error: formatError(error),
    }))
    context.stdout.write(`${JSON.stringify(response)}\n`)
  }
  try {
    for await (const line of readLines(requests)) {
      const request = observeRequest.parse(JSON.parse(line))
      const responded: Promise<void> = respond(request).finally(() => pending.delete(responded))
      pending.add(responded)
    }
  } finally {
    await Promise.all(pending)
  }
}

async function observe(
  context: CommandContext,
  readFleet: ReadFleetFile,
  { file, timeoutMs }: ObserveRequest,
): Promise<ObserveResponse> {
  const loaded = await loadCluster(context, file, readFleet)
  // The other process asks only for valid clusters, so the file has changed since then.
  if (!isValidCluster(loaded)) throw new Error(`${file} was changed and has errors now`)
  // The other process knows the name and the labels.
  const cluster = { name: file, file, labels: {}, ...loaded }
  const { health, summary, problems } = await observeFleetCluster(context, cluster, timeoutMs, loaded.cluster)
  return { file, health, summary, problems }
}
