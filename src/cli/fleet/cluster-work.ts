import { InvalidFileChange } from '../../actions/change-cluster-file.ts'
import { refuseDuringHold } from '../../actions/held-upgrade.ts'
import type { Event } from '../../contract/event.ts'
import { hasErrors } from '../../contract/finding.ts'
import type { ClusterFailure } from '../../fleet/fleet-run.ts'
import { HyperkubeError, toFailure } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { FleetCluster } from '../../workspace/fleet-clusters.ts'
import { loadCluster, type LoadedCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { completeSuggestions } from '../command/complete-commands.ts'
import { etcdFlags } from '../etcd/action.ts'
import { saveEtcdSnapshot } from '../etcd/save.ts'
import { createRunCounters } from '../render/run-counters.ts'
import { performUp, type UpResult } from '../up/run-up.ts'
import { runUpgrade } from '../upgrade/run-upgrade.ts'
import { createClusterContext } from './cluster-context.ts'
import { withClusterDeadline } from './cluster-deadline.ts'

/** What a fleet command does with one cluster. */
export type ClusterWork = (
  context: CommandContext,
  options: Invocation['options'],
  loaded: LoadedCluster & { readonly cluster: NonNullable<LoadedCluster['cluster']> },
) => Promise<Pick<UpResult, 'code' | 'plannedChanges'>>

export const upWork: ClusterWork = async (context, options, { cluster, findings }) =>
  performUp(context, options, { command: 'up', cluster, findings })

export const certsWork: ClusterWork = async (context, options, { cluster, findings }) =>
  performUp(context, options, { command: 'certs renew', cluster, findings, renew: true })

export function buildUpgradeWork(to: string, snapshot: boolean): ClusterWork {
  return async (context, options, { cluster, catalog }) => {
    refuseDuringHold(cluster)
    return { code: await runUpgrade(context, options, { cluster, catalog, to, snapshot }) }
  }
}

export const backupWork: ClusterWork = async (context, options, { cluster }) => ({
  code: await saveEtcdSnapshot({
    ...{ context, options, cluster, name: undefined },
    flags: etcdFlags.parse({}),
    identity: async () => openIdentity(context, options, cluster.metadata.name),
  }),
})

export interface ClusterWorkResult extends Pick<UpResult, 'plannedChanges'> {
  readonly code: ExitCode
  /** Number of changes that were made. */
  readonly changes: number
  /** Set if the exit code is neither success nor an interrupt. */
  readonly failure?: ClusterFailure
}

export interface ClusterWorkOptions {
  readonly command: string
  readonly options: Invocation['options']
  readonly timeoutMs: number
  readonly onEvent: (event: Event) => void
}

/** Runs the work for one cluster with a deadline. Never throws: each error is the failure of this cluster. */
export async function runClusterWork(
  context: CommandContext,
  cluster: FleetCluster,
  work: ClusterWork,
  { command, options, timeoutMs, onEvent }: ClusterWorkOptions,
): Promise<ClusterWorkResult> {
  const counters = createRunCounters()
  let failure: ClusterFailure | undefined
  const receive = (event: Event): void => {
    counters.onEvent(event)
    const { body } = event
    if (body.type === 'run-ended' && body.result.outcome === 'failed') failure = body.result.failure
    onEvent(event)
  }
  let output = (): string => ''
  try {
    const result = await withClusterDeadline(context.signal, timeoutMs, async (signal) => {
      const own = createClusterContext(context, cluster, command, { signal, onEvent: receive })
      output = own.readOutput
      const loaded = await loadCluster(own.context, cluster.file)
      if (loaded.cluster === undefined || hasErrors(loaded.findings))
        throw new HyperkubeError('SPEC_NOT_VALID', `${cluster.file} has errors`, {
          hint: `hyperkube validate -f ${cluster.file}`,
        })
      return work(own.context, options, { ...loaded, cluster: loaded.cluster })
    })
    const isExpected =
      result.code === exitCodes.ok || (options['dryRun'] === true && result.code === exitCodes.changesPending)
    return {
      ...result,
      changes: counters.ops(),
      ...(isExpected
        ? {}
        : { failure: completeHint(failure ?? describeFailure(cluster, result.code, output()), cluster) }),
    }
  } catch (error) {
    const code = context.signal.aborted ? exitCodes.interrupted : exitCodes.failure
    return {
      code,
      changes: counters.ops(),
      failure: completeHint(failure ?? toClusterFailure(error), cluster),
    }
  }
}

/** Adds the file of the cluster to the commands of a hint, because a fleet has many cluster.yml. */
function completeHint({ hint, ...failure }: ClusterFailure, { file }: FleetCluster): ClusterFailure {
  if (hint === undefined) return failure
  const [, completed = hint] =
    /^\u2192 (.*)$/s.exec(completeSuggestions(`\u2192 ${hint}`, `--file ${file}`)) ?? []
  return { ...failure, hint: completed }
}

function toClusterFailure(error: unknown): ClusterFailure {
  if (!(error instanceof InvalidFileChange)) return toFailure(error)
  const [first] = error.findings
  return { code: first?.code ?? 'SPEC_NOT_VALID', message: first?.message ?? error.message }
}

/** Describes a failure without a failed run: skipped hosts, or a message that the command printed. */
function describeFailure({ file }: FleetCluster, code: ExitCode, output: string): ClusterFailure {
  if (code === exitCodes.changesPending)
    return {
      code: 'FLEET_CLUSTER_INCOMPLETE',
      message: 'hosts were unreachable, so the change is not complete',
      hint: `hyperkube status -f ${file}`,
    }
  const line = output.split('\n').findLast((text) => /^\S*.*[A-Z]+_[A-Z_]+: /.test(text))
  return {
    code: 'FLEET_CLUSTER_FAILED',
    message: toPrintable(line ?? `the command ended with exit code ${code}`),
    hint: `hyperkube plan -f ${file}`,
  }
}
