import { type Finding, hasErrors } from '../../contract/finding.ts'
import { type EmitEvent, reportSingleStep } from '../../lifecycle/agents/event-stream.ts'
import type { ClusterClient } from '../../lifecycle/cluster-client/cluster-client.ts'
import type { ClusterClientOptions } from '../../lifecycle/cluster-client/create-cluster-client.ts'
import { checkUnfinishedRestore } from '../../lifecycle/etcd/restore-ops.ts'
import { type HostEndpoint, listPlannedEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import {
  buildProposal,
  type ProposalClient,
  type ProposalOptions,
} from '../../lifecycle/proposal/build-proposal.ts'
import { emptyProposal, type Proposal } from '../../lifecycle/proposal/proposal.ts'
import { checkActiveProvisional } from '../../lifecycle/provisional/plan-provisional.ts'
import type { WorkspaceContext } from '../../workspace/context.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { buildClientOptions } from '../../workspace/open-cluster.ts'
import type { ActionRun } from './action-run.ts'
import type { ClusterConnection } from './connect.ts'
import { buildDesiredObjects } from './desired-objects.ts'
import { buildUnreachableFindings } from './unreachable-findings.ts'

/** Connects to the running cluster. */
export type CreateClusterClient = (
  endpoints: readonly HostEndpoint[],
  options: ClusterClientOptions,
) => Promise<ClusterClient>

export interface ProposeDeps extends Pick<ClusterConnection, 'inputs' | 'connected' | 'removedHosts'> {
  readonly context: WorkspaceContext
  /** Hosts to change; undefined for all hosts. */
  readonly limit: readonly string[] | undefined
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  /** Whether to read the current contents of files that would change. */
  readonly fileContents?: boolean
  /** Whether to renew all certificates, even those that are valid for a long time. */
  readonly renew?: boolean
  /** True for `adopt commit`, which requires that all hosts have moved. */
  readonly commits?: boolean
  /** Hosts whose etcd data was restored and whose etcd has not been started after the restore. */
  readonly restored?: readonly string[]
  /** Predicts the ops that a host will need when the proposal is executed, for example after a restore. */
  readonly expected?: ProposalOptions['expected']
  /**
   * Whether a pending provisional change is only a warning. True for `plan`, which changes nothing, and for
   * `up --provisional`, which may continue the pending change.
   */
  readonly allowProvisional?: boolean
  readonly run: Pick<ActionRun, 'emit'>
  readonly createClient: (...args: Parameters<CreateClusterClient>) => Promise<ProposalClient>
}

/** Computes the changes for the connected hosts and reports all findings. Changes nothing. */
export async function proposeChanges(deps: ProposeDeps): Promise<Proposal> {
  const { context, inputs, connected, removedHosts, ignore, run, createClient, limit } = deps
  const {
    fileContents = false,
    renew = false,
    commits = false,
    restored = [],
    expected,
    allowProvisional = false,
  } = deps
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
          commits,
          restored,
          expected,
          connectRemoved: removedHosts.connect,
          limit: limit && new Set(limitHosts(inputs.cluster, limit).map(({ name }) => name)),
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
 * Splits off findings about missing facts of unreachable hosts. They are replaced by findings that explain
 * why these hosts are unreachable.
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

/** Creates a function that returns the current connection to a host's agent. */
export function createRemoteLookup(
  { sessions }: Pick<ClusterConnection['connected'], 'sessions'>,
  removedHosts?: Pick<ClusterConnection['removedHosts'], 'sessions'>,
): ClusterClientOptions['findRemote'] {
  return async (host) => (sessions.get(host) ?? removedHosts?.sessions.get(host))?.remote
}
