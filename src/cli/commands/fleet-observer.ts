import type { Readable } from 'node:stream'
import { readLines } from '../../kit/lines.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { createCachingFleetReader } from '../../workspace/load-fleet.ts'
import { type CommandContext, exitCodes, type LeafCommand } from '../command/command.ts'
import { observeFleetCluster } from '../fleet/observe-fleet-cluster.ts'
import { observeRequest, type ObserveResponse } from '../fleet/observer-protocol.ts'
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

/** Responds to each request until the input ends. Requests are handled at the same time. */
export async function serveObservations(context: CommandContext, requests: Readable): Promise<void> {
  const shared = shareKnownHosts(context)
  const readFleet = createCachingFleetReader(context)
  const pending = new Set<Promise<void>>()
  const handle = async (line: string): Promise<void> => {
    const { file, timeoutMs } = observeRequest.parse(JSON.parse(line))
    const loaded = await loadCluster(context, file, readFleet)
    // The other process knows the name and the labels.
    const cluster = { name: file, file, labels: {}, ...loaded }
    const { health, summary, problems } = await observeFleetCluster(
      shared,
      cluster,
      timeoutMs,
      loaded.cluster,
    )
    const response: ObserveResponse = { file, health, summary, problems }
    context.stdout.write(`${JSON.stringify(response)}\n`)
  }
  for await (const line of readLines(requests)) {
    const handled: Promise<void> = handle(line).finally(() => pending.delete(handled))
    pending.add(handled)
  }
  await Promise.all(pending)
}
