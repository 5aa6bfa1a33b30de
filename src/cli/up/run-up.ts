import type { ProvisionalEnd } from '../../actions/phases/settle-provisional.ts'
import { up, type UpOptions, type UpOutcome } from '../../actions/up.ts'
import type { Lock } from '../../catalog/lock.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Identity } from '../../identity/identity.ts'
import { joinNames } from '../../kit/text.ts'
import type { Proposal } from '../../lifecycle/proposal/proposal.ts'
import { buildPlanDocument, type PlannedChanges } from '../../lifecycle/proposal/plan-approval.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { listClusterFlags } from '../command/typed-command.ts'
import { runAction } from '../run/run-action.ts'
import { resultNames, type RunSummary } from '../run/run-with-progress.ts'
import { formatProvisionalEnd } from '../text/provisional-text.ts'
import { upFlags } from './up-flags.ts'

export interface UpInputs extends Pick<
  UpOptions,
  | 'renew'
  | 'commits'
  | 'plan'
  | 'provisional'
  | 'previousHosts'
  | 'untrustedHosts'
  | 'persist'
  | 'onConnected'
> {
  /** Command without flags, for example `node add w1`. The log file of the run is named after it. */
  readonly command: string
  readonly cluster: Cluster
  /** Findings about cluster.yml. */
  readonly findings: readonly Finding[]
  /** `lock` and `identity` are set only if they differ from the files on disk. */
  readonly lock?: Lock
  readonly identity?: Identity
  /** True if the command may change an adopted cluster before `adopt commit`. */
  readonly beforeCommit?: boolean
}

/** Brings a cluster to its desired state and prints the result. */
export async function runUp(
  context: CommandContext,
  options: Invocation['options'],
  inputs: UpInputs,
): Promise<ExitCode> {
  const result = await performUp(context, options, inputs)
  if (result.code === exitCodes.usage) return result.code
  const clusterFlags = listClusterFlags(context.typedCommand ?? '')
  printResult(context.stdout, options.output, buildUpDocument(result), () =>
    formatUpResult(result, clusterFlags),
  )
  const { progress, dryRun } = upFlags.parse(options)
  const canPrintHint = progress !== 'json' && options.quiet !== true
  if (inputs.command === 'up' && !dryRun && canPrintHint)
    context.stderr.write(formatNextCommand(result, clusterFlags))
  return result.code
}

/**
 * Brings a cluster to its desired state without printing the result, for commands that print a result of
 * their own.
 */
export async function performUp(
  context: CommandContext,
  options: Invocation['options'],
  { command, cluster, findings, lock, identity, beforeCommit = false, ...upOptions }: UpInputs,
): Promise<UpResult> {
  const { progress, ignore, forgetHostKey, forceUnlock, dryRun } = upFlags.parse(options)
  // Unknown names are reported before any host is contacted.
  limitHosts(cluster, options.limit)
  const loaded = await loadClusterInputs(context, options, cluster, { beforeCommit })
  const inputs = { ...loaded, lock: lock ?? loaded.lock, identity: identity ?? loaded.identity }
  const { name } = cluster.metadata
  let [connected, leftBehind]: [readonly string[], readonly string[]] = [[], []]
  let proposal: Proposal | undefined
  const settings = { command, cluster: name, progress }
  const { outcome, ...summary } = await runAction<UpOutcome>(context, options, settings, async (run) => {
    for (const finding of findings) run.emit({ type: 'finding', finding })
    const actionOptions: UpOptions = {
      ...upOptions,
      files: options,
      forgetHostKeys: forgetHostKey,
      limit: options.limit,
      ignore,
      forceUnlock,
      dryRun,
      onConnected: (connection) => {
        connected = [...connection.sessions.keys()]
        leftBehind = [...connection.unreachable.keys()]
        upOptions.onConnected?.(connection)
      },
      onProposed: (proposed) => (proposal = proposed),
    }
    return up(context, inputs, actionOptions, run)
  })
  return {
    ...summary,
    cluster: name,
    hosts: outcome?.result.outcome === 'done' ? connected : [],
    leftBehind,
    ...(dryRun && proposal !== undefined ? { plannedChanges: proposal } : {}),
    ...(outcome?.provisional === undefined ? {} : { provisional: outcome.provisional }),
  }
}

export interface UpResult extends RunSummary {
  readonly cluster: string
  /** Hosts that match cluster.yml after a successful run; empty if the run did not succeed. */
  readonly hosts: readonly string[]
  /** Hosts that were unreachable and therefore not changed. */
  readonly leftBehind: readonly string[]
  /** Planned changes of a dry run. */
  readonly plannedChanges?: PlannedChanges
  /** State of the provisional change. */
  readonly provisional?: ProvisionalEnd
}

/** Builds the result for programs; for a dry run this is the plan document. */
export function buildUpDocument(result: UpResult): object {
  if (result.plannedChanges !== undefined) return buildPlanDocument(result.plannedChanges)
  const { code, cluster, changedHosts, leftBehind, provisional, ops, seconds, log } = result
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'UpResult',
    cluster,
    outcome: resultNames[code],
    changedHosts,
    leftBehind,
    ...(provisional === undefined ? {} : { provisional }),
    ops,
    seconds,
    ...(log === undefined ? {} : { log }),
  }
}

/**
 * Formats the result for people. Errors are not repeated, because they were already printed. `clusterFlags`
 * are the flags of suggested commands.
 */
export function formatUpResult(
  { cluster, hosts, leftBehind, provisional }: UpResult,
  clusterFlags: readonly string[] = [],
): string {
  if (hosts.length === 0) return ''
  const skippedText =
    leftBehind.length === 0
      ? ''
      : `skipped, because unreachable: ${joinNames(leftBehind)}; to apply the rest later: ${['hyperkube up', ...clusterFlags].join(' ')}\n`
  return `${cluster} is up on ${joinNames(hosts)}\n${skippedText}${provisional === undefined ? '' : formatProvisionalEnd(provisional)}`
}

/** Formats the command to run after a successful `up`. A provisional change has its own next command. */
export function formatNextCommand(
  { code, provisional }: Pick<UpResult, 'code' | 'provisional'>,
  clusterFlags: readonly string[],
): string {
  if (code !== exitCodes.ok || (provisional !== undefined && provisional.state !== 'confirmed')) return ''
  return `  → to list the nodes: ${['hyperkube', ...clusterFlags, 'kubectl get nodes'].join(' ')}\n`
}
