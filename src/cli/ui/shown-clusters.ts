import { z } from 'zod'
import { readDocument } from '../../spec/document.ts'
import { loadFleet } from '../../workspace/fleet-clusters.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import type { CommandContext } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'

/** Clusters that the interface shows. */
export interface ShownClusters {
  /** Name of the fleet; undefined if --file is a cluster.yml. */
  readonly fleet: string | undefined
  readonly clusters: readonly { readonly name: string; readonly file: string }[]
}

/**
 * Reads the clusters of fleet.yml, or the one of cluster.yml. Prints the findings of an invalid file and
 * returns undefined.
 */
export async function loadShownClusters(
  context: CommandContext,
  file: string,
): Promise<ShownClusters | undefined> {
  if (await isFleetFile(context, file)) {
    const loaded = await loadFleet(context, file)
    if (loaded.ok) {
      return {
        fleet: loaded.fleet.metadata.name,
        clusters: loaded.clusters.map(({ name, file: path }) => ({ name, file: path })),
      }
    }
    context.stderr.write(formatFindings(loaded.findings))
    return undefined
  }
  const { cluster, findings } = await loadCluster(context, file)
  context.stderr.write(formatFindings(findings))
  return cluster && { fleet: undefined, clusters: [{ name: cluster.metadata.name, file }] }
}

/** True if the file says that it is a fleet. Other files are read as a cluster.yml, which reports their errors. */
async function isFleetFile({ exists, readFile }: CommandContext, file: string): Promise<boolean> {
  if (!(await exists(file))) return false
  const result = readDocument({ file, text: await readFile(file) })
  return result.ok && z.looseObject({ kind: z.literal('Fleet') }).safeParse(result.document.value).success
}
