import { memoizeRelease } from '../../actions/phases/connect.ts'
import { parseSelector } from '../../fleet/select-clusters.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { createKnownHostsLookup } from '../../ssh/known-hosts-files.ts'
import {
  type FleetCluster,
  isValidCluster,
  type LoadedFleet,
  loadFleet,
} from '../../workspace/fleet-clusters.ts'
import type { CommandContext, Invocation } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { selectFlags } from './fleet-flags.ts'

export interface SelectedFleet extends LoadedFleet {
  /** Clusters that --select chooses. */
  readonly selected: readonly FleetCluster[]
}

/** Loads the fleet and selects clusters. Prints the findings of an invalid fleet.yml and returns undefined. */
export async function loadSelectedFleet(
  context: CommandContext,
  options: Invocation['options'],
): Promise<SelectedFleet | undefined> {
  const loaded = await loadFleet(context, options.file)
  if (!loaded.ok) {
    context.stderr.write(formatFindings(loaded.findings))
    return undefined
  }
  const { select } = selectFlags.parse(options)
  const isSelected = select === undefined ? () => true : parseSelector(select)
  const selected = loaded.clusters.filter(({ labels }) => isSelected(labels))
  if (selected.length > 0) return { ...loaded, selected }
  throw new HyperkubeError(
    'FLEET_NOTHING_SELECTED',
    `no cluster of ${options.file} has the labels ${select}`,
    {
      hint: `to list all clusters with their labels: hyperkube fleet status -o wide`,
    },
  )
}

/** Returns a context that loads each executable of this release once for all clusters. */
export function shareReleases(context: CommandContext): CommandContext {
  return { ...context, findRelease: memoizeRelease(context.findRelease) }
}

/**
 * Returns a context that reads the operator's known_hosts files once for all clusters. Only for commands that
 * take seconds, because the operator may change the files.
 */
export function shareKnownHosts(context: CommandContext): CommandContext {
  return { ...context, operator: { ...context.operator, findKnownHostKeys: createKnownHostsLookup() } }
}

/** Prints the findings of invalid clusters. Returns true if all clusters are valid. */
export function requireValidClusters(
  { stderr }: Pick<CommandContext, 'stderr'>,
  clusters: readonly FleetCluster[],
): boolean {
  const invalid = clusters.filter((cluster) => !isValidCluster(cluster))
  for (const { findings } of invalid) stderr.write(formatFindings(findings))
  return invalid.length === 0
}
