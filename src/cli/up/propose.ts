import { type Finding, hasErrors } from '../../contract/finding.ts'
import { checkUnfinishedRestore } from '../../lifecycle/restore/unfinished-restore.ts'
import type { ClusterReader } from '../../lifecycle/cluster-access.ts'
import { type HostEndpoint, listPlannedEndpoints } from '../../lifecycle/host-endpoints.ts'
import { type EmitEvent, reportSingleStep } from '../../lifecycle/event-stream.ts'
import type { ClusterClientOptions } from '../../lifecycle/cluster-client.ts'
import {
  emptyProposal,
  type Proposal,
  buildProposal,
  type ProposalOptions,
} from '../../lifecycle/build-proposal.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import { checkActiveProvisional } from '../../lifecycle/auto-rollback/provisional-changes.ts'
import type { CommandContext, Invocation } from '../command.ts'
import { formatHolder } from '../lock-holder.ts'
import { limitHosts } from '../limit-hosts.ts'
import type { RunReporter } from '../run-with-progress.ts'
import { buildUnreachableFindings } from './unreachable-findings.ts'
import { buildDesiredObjects } from './desired-objects.ts'
import type { ClusterConnection } from './connect.ts'

export interface ProposeDeps extends Pick<ClusterConnection, 'inputs' | 'connected' | 'removedHosts'> {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly ignore: readonly string[]
  /** Whether to read the current contents of files that would change. */
  readonly fileContents?: boolean
  /** Whether to renew all certificates, even those that are valid for a long time. */
  readonly renew?: boolean
  /** Hosts whose etcd data was replaced and not used yet. */
  readonly restored?: readonly string[]
  /** Converts the ops that hosts report now to the ops expected when the plan is applied. */
  readonly expected?: ProposalOptions['expected']
  /**
   * Whether a pending provisional change is only a warning. True if nothing is changed, or if the same change
   * continues.
   */
  readonly allowProvisional?: boolean
  readonly run: RunReporter
  /** Connects to the running cluster. */
  readonly createClient: (
    endpoints: readonly HostEndpoint[],
    options: ClusterClientOptions,
  ) => Promise<ClusterReader & Disposable>
}

/** Computes the changes for the connected hosts and reports all findings. Changes nothing. */
export async function proposeChanges(deps: ProposeDeps): Promise<Proposal> {
  const { context, inputs, connected, removedHosts, ignore, run, createClient, options } = deps
  const { fileContents = false, renew = false, restored = [], expected, allowProvisional = false } = deps
  const provisionalFindings = checkActiveProvisional(
    connected.provisionalChanges,
    allowProvisional ? 'warning' : 'error',
  )
  const unfinished = [...checkUnfinishedRestore(connected.restores), ...provisionalFindings]
  if (hasErrors(unfinished)) return reportProposal(run.emit, { ...emptyProposal, findings: unfinished })
  const explainUnreachable = (needed: readonly string[] = []): Finding[] =>
    buildUnreachableFindings(connected.unreachable, new Set(needed)).filter(
      ({ code, host = '' }) => !ignore.includes(code) || needed.includes(host),
    )
  if (hasErrors(explainUnreachable()))
    return reportProposal(run.emit, { ...emptyProposal, findings: explainUnreachable() })
  const proposal = await reportSingleStep(
    { emit: run.emit, signal: context.signal },
    { step: 'observe', title: 'read the current state', hosts: [...connected.sessions.keys()] },
    async () =>
      buildProposal(
        inputs,
        connected.sessions,
        async (plans) =>
          createClient(listPlannedEndpoints(plans), {
            ...buildClientOptions(inputs, context, createRemoteLookup(connected)),
            objects: buildDesiredObjects(inputs.cluster, plans),
          }),
        {
          ignored: ignore,
          fileContents,
          renew,
          restored,
          expected,
          connectRemoved: removedHosts.connect,
          limit: options.limit && new Set(limitHosts(inputs.cluster, options.limit).map(({ name }) => name)),
        },
      ),
  ).catch((error: unknown) => {
    reportProposal(run.emit, { ...emptyProposal, findings: explainUnreachable() })
    throw error
  })
  const [knownUnreachable, rest] = splitUnreachable(proposal.findings, connected)
  const needed = knownUnreachable
    .filter(({ severity }) => severity === 'error')
    .flatMap(({ host }) => host ?? [])
  return reportProposal(run.emit, {
    ...proposal,
    findings: [...provisionalFindings, ...explainUnreachable(needed), ...rest],
  })
}

/**
 * Splits off findings about missing facts of unreachable hosts, because the reason why the host is
 * unreachable is reported instead.
 */
function splitUnreachable(
  findings: readonly Finding[],
  { unreachable }: ClusterConnection['connected'],
): readonly [Finding[], Finding[]] {
  const isKnown = ({ code, host }: Finding): boolean =>
    code === 'HOST_NO_FACTS' && unreachable.has(host ?? '')
  return [findings.filter(isKnown), findings.filter((finding) => !isKnown(finding))]
}

function reportProposal(emit: EmitEvent, proposal: Proposal): Proposal {
  for (const finding of proposal.findings) emit({ type: 'finding', finding })
  return proposal
}

/** Builds the options with which a command connects to a cluster. */
export function buildClientOptions(
  { identity, cluster }: Pick<ClusterInputs, 'identity' | 'cluster'>,
  { operator, now, signal }: CommandContext,
  findRemote: ClusterClientOptions['findRemote'],
): ClusterClientOptions {
  return {
    identity,
    operator: formatHolder(operator, process.pid),
    apiPort: cluster.spec.api.port,
    findRemote,
    now: now(),
    signal,
  }
}

/** Creates a function that returns the current connection to a host's agent. */
export function createRemoteLookup(
  { sessions }: Pick<ClusterConnection['connected'], 'sessions'>,
  removedHosts?: Pick<ClusterConnection['removedHosts'], 'sessions'>,
): ClusterClientOptions['findRemote'] {
  return async (host) => (sessions.get(host) ?? removedHosts?.sessions.get(host))?.remote
}
