import type { Lock } from '../../catalog/lock.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Identity } from '../../identity/identity.ts'
import type { PlannedChanges } from '../../lifecycle/plan-document.ts'
import { createClusterClient } from '../../lifecycle/cluster-client.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { loadClusterInputs } from '../load-inputs.ts'
import { printResult } from '../print.ts'
import { runWithProgress } from '../run-with-progress.ts'
import type { ProvisionalOptions } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import type { ProvisionalEnd } from '../provisional/text.ts'
import { proposeAndExecute } from './propose-and-execute.ts'
import type { ApprovedPlan } from './up-deps.ts'
import { createDeferredAbort } from './deferred-abort.ts'
import { connectCluster } from './connect.ts'
import { buildUpDocument, type UpResult, formatUpResult } from './result.ts'
import { upFlags } from './up-flags.ts'

export interface UpInputs {
  /** Command line as it was typed. */
  readonly command: string
  readonly cluster: Cluster
  /** Findings about cluster.yml. */
  readonly findings: readonly Finding[]
  /** `lock` and `identity` are set only if they differ from the files on disk. */
  readonly lock?: Lock
  readonly identity?: Identity
  /** Whether to renew all certificates, even those that are valid for a long time. */
  readonly renew?: boolean
  readonly plan?: ApprovedPlan | undefined
  /** If set, hosts roll back by themselves unless the change is confirmed. */
  readonly provisional?: ProvisionalOptions | undefined
  /** Hosts that cluster.yml contained before this command. */
  readonly previousHosts?: readonly HostSpec[]
  /** Saves the inputs once the change is confirmed, so an interrupted run can be resumed. */
  readonly persist?: () => Promise<void>
}

/** Brings a cluster to its desired state and prints the result. */
export async function runUp(
  context: CommandContext,
  options: Invocation['options'],
  inputs: UpInputs,
): Promise<ExitCode> {
  const result = await performUp(context, options, inputs)
  if (result.code === exitCodes.usage) return result.code
  printResult(context.stdout, options.output, buildUpDocument(result), () => formatUpResult(result))
  return result.code
}

/** Brings a cluster to its desired state without printing the result, for commands that do more. */
export async function performUp(
  context: CommandContext,
  options: Invocation['options'],
  {
    command,
    cluster,
    findings,
    lock,
    identity,
    renew = false,
    plan,
    provisional,
    previousHosts,
    persist,
  }: UpInputs,
): Promise<UpResult> {
  const { progress, ignore, forceUnlock, dryRun } = upFlags.parse(options)
  const loaded = await loadClusterInputs(context, options, cluster)
  const inputs = { ...loaded, lock: lock ?? loaded.lock, identity: identity ?? loaded.identity }
  const { name } = cluster.metadata
  let [hosts, leftBehind]: [readonly string[], readonly string[]] = [[], []]
  let plannedChanges: PlannedChanges | undefined
  let provisionalEnd: ProvisionalEnd | undefined
  const settings = { command, cluster: name, progress, debug: options.debug === true }
  const runResult = await runWithProgress(context, settings, async (run) => {
    for (const finding of findings) run.emit({ type: 'finding', finding })
    using deferredAbort = createDeferredAbort(context.signal)
    await using connection = await connectCluster(
      context,
      options,
      inputs,
      run,
      deferredAbort.signal,
      previousHosts,
    )
    leftBehind = [...connection.connected.unreachable.keys()]
    const upResult = await proposeAndExecute({
      ...connection,
      context,
      options,
      flags: { ignore, forceUnlock, dryRun, plan, provisional, canPrompt: progress !== 'json' },
      run,
      onPlanned: (changes) => (plannedChanges = changes),
      renew,
      createClient: createClusterClient,
      persist: persist ?? (async () => undefined),
      deferAbort: deferredAbort.defer,
      deferredSignal: deferredAbort.signal,
    })
    provisionalEnd = upResult.provisional
    if (upResult.result.outcome === 'done') hosts = [...connection.connected.sessions.keys()]
    return upResult
  })
  return {
    ...runResult,
    cluster: name,
    hosts,
    leftBehind,
    ...(dryRun && plannedChanges ? { plannedChanges } : {}),
    ...(provisionalEnd === undefined ? {} : { provisional: provisionalEnd }),
  }
}
