import type { Finding } from '../../contract/finding.ts'
import type { ClusterFailure } from '../../fleet/fleet-run.ts'
import { planWaves } from '../../fleet/waves.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import type { InheritedValue } from '../../spec/inherit.ts'
import type { FleetCluster } from '../../workspace/fleet-clusters.ts'
import {
  type CommandContext,
  type ExitCode,
  exitCodes,
  type Invocation,
  type Paint,
} from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'
import { formatInherited } from '../text/inherited-text.ts'
import { buildClusterOptions } from './cluster-context.ts'
import { type ClusterWork, runClusterWork, upWork } from './cluster-work.ts'
import { type RolloutFlags, rolloutFlags } from './fleet-flags.ts'
import { defaultReadParallel, readClusters } from './fleet-status.ts'
import { loadSelectedFleet, requireValidClusters, type SelectedFleet, shareReleases } from './select-fleet.ts'

/** Planned changes of one cluster. */
export interface ClusterPlan {
  readonly cluster: string
  readonly file: string
  /** Number of its wave, from 1. */
  readonly wave: number
  readonly outcome: 'unchanged' | 'pending' | 'failed'
  /** Number of ops on hosts. */
  readonly changes: number
  readonly restarts: number
  readonly changedHosts: readonly string[]
  readonly findings: readonly Finding[]
  readonly inherited: readonly InheritedValue[]
  readonly failure?: ClusterFailure
}

const planTimeoutMs = 300_000

/** `hyperkube fleet plan`: shows the changes of `fleet up` for all clusters. */
export async function showFleetPlan(
  ownContext: CommandContext,
  options: Invocation['options'],
): Promise<ExitCode> {
  const context = shareReleases(ownContext)
  const fleet = await loadSelectedFleet(context, options)
  if (fleet === undefined || !requireValidClusters(context, fleet.selected)) return exitCodes.failure
  const flags = rolloutFlags.parse(options)
  return printPlans(context, options, fleet, await planFleet(context, options, fleet, flags, upWork))
}

/** Plans all selected clusters. Only counts are kept of each plan, so that memory does not grow with the fleet. */
export async function planFleet(
  context: CommandContext,
  options: Invocation['options'],
  { fleet, selected }: SelectedFleet,
  flags: RolloutFlags,
  work: ClusterWork,
): Promise<readonly ClusterPlan[]> {
  const { rollout } = fleet.spec
  const waves = planWaves(selected, { ...rollout, waves: flags.waves ?? rollout.waves })
  const planOne = async (cluster: FleetCluster): Promise<ClusterPlan> => {
    const { code, failure, plannedChanges } = await runClusterWork(context, cluster, work, {
      command: 'plan',
      options: buildClusterOptions(cluster, { ...flags, dryRun: true }),
      timeoutMs: flags.clusterTimeout ?? planTimeoutMs,
      onEvent: () => undefined,
    })
    context.signal.throwIfAborted()
    const ops = [...(plannedChanges?.ops ?? [])].filter(([, hostOps]) => hostOps.length > 0)
    const isPending = code === exitCodes.changesPending
    return {
      cluster: cluster.name,
      file: cluster.file,
      wave: waves.findIndex(({ clusters }) => clusters.includes(cluster.name)) + 1,
      outcome: failure !== undefined ? 'failed' : isPending ? 'pending' : 'unchanged',
      changes: ops.reduce((sum, [, hostOps]) => sum + hostOps.length, 0),
      restarts: ops.flatMap(([, hostOps]) => hostOps).filter(({ action }) => action === 'restart').length,
      changedHosts: ops.map(([host]) => host),
      findings: [...cluster.findings, ...(plannedChanges?.findings ?? [])],
      inherited: cluster.inherited,
      ...(failure === undefined ? {} : { failure }),
    }
  }
  const parallel = flags.parallel ?? defaultReadParallel
  const plans = await readClusters(context, options, parallel, selected, planOne)
  return plans.toSorted((a, b) => a.wave - b.wave || (a.cluster < b.cluster ? -1 : 1))
}

/** Prints plans. Returns the exit code: failure, or pending changes. */
export function printPlans(
  context: CommandContext,
  { output }: Invocation['options'],
  { fleet }: SelectedFleet,
  items: readonly ClusterPlan[],
): ExitCode {
  const { name } = fleet.metadata
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'FleetPlan', fleet: name, items }
  printResult(context.stdout, output, document, () =>
    formatFleetPlan(name, items, output === 'wide', context.paint),
  )
  if (items.some(({ outcome }) => outcome === 'failed')) return exitCodes.failure
  return items.some(({ outcome }) => outcome === 'pending') ? exitCodes.changesPending : exitCodes.ok
}

const colours = { unchanged: 'dim', pending: 'yellow', failed: 'red' } as const

const columns: readonly TableColumn<ClusterPlan>[] = [
  { head: 'WAVE', cell: ({ wave }) => ({ text: String(wave) }) },
  { head: 'CLUSTER', cell: ({ cluster }) => ({ text: cluster }) },
  { head: 'PLAN', cell: ({ outcome }) => ({ text: outcome, colour: colours[outcome] }) },
  { head: 'CHANGES', cell: ({ changes }) => ({ text: String(changes) }) },
  { head: 'RESTARTS', cell: ({ restarts }) => ({ text: String(restarts) }) },
  { head: 'HOSTS', cell: ({ changedHosts }) => ({ text: String(changedHosts.length) }) },
  { head: 'INHERITED', cell: ({ inherited }) => ({ text: String(inherited.length) }) },
]

/** Formats a row for each cluster, the failures, and the inherited values: with `isWide` for each cluster. */
export function formatFleetPlan(
  name: string,
  items: readonly ClusterPlan[],
  isWide: boolean,
  paint: Paint,
): string {
  const failures = items.flatMap(({ cluster, file, failure }) =>
    failure === undefined
      ? []
      : [
          `${toPrintable(`${cluster}: ${failure.code}: ${failure.message}`)}\n  → hyperkube plan -f ${file}\n`,
        ],
  )
  const heading = `${paint('bold', name)}: ${formatCount(items.length, 'cluster')}\n`
  return `${heading}${formatTable(columns, items, paint)}${failures.join('')}${formatAllInherited(items, isWide, paint)}`
}

function formatAllInherited(items: readonly ClusterPlan[], isWide: boolean, paint: Paint): string {
  if (isWide)
    return items
      .filter(({ inherited }) => inherited.length > 0)
      .map(({ cluster, inherited }) => `${cluster}: ${formatInherited(inherited, paint)}`)
      .join('')
  // Most clusters inherit the same values, so each value is shown once.
  const all = new Map(
    items.flatMap(({ inherited }) =>
      inherited.map((one) => [`${one.path} ${one.position.file}:${one.position.line}`, one] as const),
    ),
  )
  return formatInherited([...all.values()], paint)
}
