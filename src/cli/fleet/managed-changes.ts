import type { Command } from 'commander'
import { z } from 'zod'
import type { ClusterFailure } from '../../fleet/fleet-run.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import { HyperkubeError, toFailure } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import { type Management, openManagement } from '../../manager/fleet/management.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { FleetCluster } from '../../workspace/fleet-clusters.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import {
  type CommandContext,
  type ExitCode,
  exitCodes,
  type Invocation,
  type Paint,
} from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'
import { buildClusterOptions, createClusterContext } from './cluster-context.ts'
import { addSelectFlags, selectFlags } from './fleet-flags.ts'
import { loadSelectedFleet, requireValidClusters } from './select-fleet.ts'

const defaultParallel = 8

const managedFlags = selectFlags.extend({
  management: z.string().optional(),
  server: z.string().optional(),
  dryRun: z.boolean().default(false),
})

/** Adds the flags of commands that use a management plane. */
export function addManagementFlags(command: Command): Command {
  return addSelectFlags(command, String(defaultParallel))
    .option('--management <kubeconfig>', 'kubeconfig of an administrator of the management plane')
    .option(
      '--dry-run',
      'show what would change, without changing anything; exit code 3 if changes are pending',
    )
}

/** What a command does with one managed cluster. */
export interface ManagedChange {
  /** For example `join` or `publish 1795000000`. */
  readonly change: string
  /** Undefined if nothing has to change. */
  readonly execute?: () => Promise<unknown>
}

export interface ManagedClusterInput {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly cluster: Cluster
  readonly labels: FleetCluster['labels']
  readonly management: Management
}

export interface ManagedCommand {
  /** Name of the subcommand. */
  readonly name: 'join' | 'publish'
  readonly kind: 'FleetJoin' | 'FleetPublish'
  /** Reads what has to change. Changes nothing. */
  readonly prepare: (input: ManagedClusterInput) => Promise<ManagedChange>
}

interface ChangeRow extends ManagedChange {
  readonly name: string
  readonly state: 'unchanged' | 'pending' | 'done' | 'failed'
  readonly failure?: ClusterFailure
}

/** Runs a command for all selected clusters: prepare, show, confirm, execute. Nothing changes if one fails to prepare. */
export async function changeManagedClusters(
  context: CommandContext,
  options: Invocation['options'],
  command: ManagedCommand,
): Promise<ExitCode> {
  const { management: kubeconfig, server, dryRun, parallel = defaultParallel } = managedFlags.parse(options)
  if (kubeconfig === undefined) {
    context.stderr.write(`USAGE: hyperkube fleet ${command.name} needs --management KUBECONFIG\n`)
    context.stderr.write(`  → hyperkube fleet ${command.name} --help\n`)
    return exitCodes.usage
  }
  const fleet = await loadSelectedFleet(context, options)
  if (fleet === undefined || !requireValidClusters(context, fleet.selected)) return exitCodes.failure
  const { readFile, signal } = context
  using management = await openManagement({ kubeconfig, server, readFile, signal })
  const print = (rows: readonly ChangeRow[], code: ExitCode): ExitCode => {
    const items = rows.map(({ execute: _execute, ...row }) => row)
    const document = { apiVersion: 'hyperkube.dev/v1', kind: command.kind, items }
    printResult(context.stdout, options.output, document, () => formatRows(rows, context.paint))
    return code
  }
  const rows = await mapWithConcurrency(parallel, fleet.selected, async (cluster) =>
    prepareRow(context, cluster, command, management),
  )
  if (rows.some(({ state }) => state === 'failed')) return print(rows, exitCodes.failure)
  if (rows.every(({ state }) => state === 'unchanged')) return print(rows, exitCodes.ok)
  if (dryRun) return print(rows, exitCodes.changesPending)
  if (options.yes !== true) context.stderr.write(formatTable(columns, rows, context.paintProgress))
  const confirmation = await confirmChanges(context, options, true)
  if (confirmation !== 'confirmed') return exitCodeByConfirmation[confirmation]
  const done = await mapWithConcurrency(parallel, rows, async (row) => executeRow(row, signal))
  if (signal.aborted) return print(done, exitCodes.interrupted)
  const isFailed = done.some(({ state }) => state === 'failed')
  return print(done, isFailed ? exitCodes.failure : exitCodes.ok)
}

async function prepareRow(
  context: CommandContext,
  fleetCluster: FleetCluster,
  { name: command, prepare }: ManagedCommand,
  management: Management,
): Promise<ChangeRow> {
  const { name, file, labels } = fleetCluster
  try {
    const { signal } = context
    const own = createClusterContext(context, fleetCluster, command, { signal, onEvent: () => undefined })
    const { cluster } = await loadCluster(own.context, file)
    if (cluster === undefined)
      throw new HyperkubeError('SPEC_NOT_VALID', `${file} has errors`, {
        hint: `hyperkube validate -f ${file}`,
      })
    const input = { context: own.context, options: buildClusterOptions(fleetCluster), cluster }
    const change = await prepare({ ...input, labels, management })
    return { name, ...change, state: change.execute === undefined ? 'unchanged' : 'pending' }
  } catch (error) {
    context.signal.throwIfAborted()
    return { name, change: command, state: 'failed', failure: toFailure(error) }
  }
}

async function executeRow({ execute, ...row }: ChangeRow, signal: AbortSignal): Promise<ChangeRow> {
  if (execute === undefined || signal.aborted) return row
  try {
    await execute()
    return { ...row, state: 'done' }
  } catch (error) {
    return { ...row, state: 'failed', failure: toFailure(error) }
  }
}

const maxHints = 5

/** Formats a row for each cluster, and the next commands for those that failed. */
function formatRows(rows: readonly ChangeRow[], paint: Paint): string {
  const hints = [...new Set(rows.flatMap(({ failure }) => failure?.hint ?? []))].slice(0, maxHints)
  return formatTable(columns, rows, paint) + hints.map((hint) => `  → ${toPrintable(hint)}\n`).join('')
}

const colours = { unchanged: 'dim', pending: 'yellow', done: 'green', failed: 'red' } as const

const columns: readonly TableColumn<ChangeRow>[] = [
  { head: 'CLUSTER', cell: ({ name }) => ({ text: name }) },
  { head: 'CHANGE', cell: ({ change }) => ({ text: change }) },
  { head: 'STATE', cell: ({ state }) => ({ text: state, colour: colours[state] }) },
  {
    head: 'PROBLEM',
    cell: ({ failure }) => ({
      text: failure === undefined ? '' : `${failure.code}: ${failure.message}`,
    }),
  },
]
