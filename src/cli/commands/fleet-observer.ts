import type { Readable } from 'node:stream'
import { readLines } from '../../kit/lines.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { createFleetReader, type ReadFleetFile } from '../../workspace/load-fleet.ts'
import { readLabels } from '../../spec/inherit.ts'
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
  const readFleet = memoizeFleets(context)
  const pending = new Set<Promise<void>>()
  const handle = async (line: string): Promise<void> => {
    const { file, timeoutMs } = observeRequest.parse(JSON.parse(line))
    const { cluster, findings, inherited } = await loadCluster(context, file, readFleet)
    const name = cluster?.metadata.name ?? ''
    const labels = cluster === undefined ? {} : readLabels(cluster)
    const found = { name, file, labels, cluster, findings, inherited }
    const { health, summary, problems } = await observeFleetCluster(shared, found, timeoutMs, cluster)
    const response: ObserveResponse = { file, health, summary, problems }
    context.stdout.write(`${JSON.stringify(response)}\n`)
  }
  for await (const line of readLines(requests)) {
    const handled: Promise<void> = handle(line).finally(() => pending.delete(handled))
    pending.add(handled)
  }
  await Promise.all(pending)
}

/** Returns a reader that parses each fleet.yml once. */
function memoizeFleets(context: CommandContext): ReadFleetFile {
  const read = createFleetReader(context)
  const results = new Map<string, ReturnType<ReadFleetFile>>()
  return async (file) => {
    const result = results.get(file) ?? read(file)
    results.set(file, result)
    return result
  }
}
