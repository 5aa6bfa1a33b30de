/**
 * A cluster and its hosts, with the same files, connections and checks as the commands `hyperkube status`,
 * `doctor`, `plan` and `up`.
 */
import { randomUUID } from 'node:crypto'
import type { ActionOutcome, ActionRun } from '../actions/phases/action-run.ts'
import { planFromHosts } from '../actions/plan.ts'
import { up } from '../actions/up.ts'
import { buildDoctorDocument, type DoctorDocument } from '../cli/doctor/document.ts'
import { examineCluster, selectIngressCheck } from '../cli/doctor/examine.ts'
import { createWorkspaceContext } from '../cli/environment/workspace-context.ts'
import { createRunCounters } from '../cli/render/run-counters.ts'
import type { Event } from '../contract/event.ts'
import type { Finding } from '../contract/finding.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { createEventStream, type StepResult, toStepFailure } from '../lifecycle/agents/event-stream.ts'
import { observeClusterHealth } from '../lifecycle/observe/observe-cluster.ts'
import { buildPlanDocument, type PlanDocument } from '../lifecycle/proposal/plan-approval.ts'
import {
  buildStatusDocument,
  buildStatusReport,
  type StatusDocument,
} from '../lifecycle/status/status-report.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { ClusterFiles, WorkspaceContext } from '../workspace/context.ts'
import { limitHosts } from '../workspace/limit-hosts.ts'
import { loadCluster } from '../workspace/load-cluster.ts'
import { openIdentity } from '../workspace/load-identity.ts'
import { loadClusterInputs } from '../workspace/load-inputs.ts'
import { connectToCluster } from '../workspace/open-cluster.ts'

export type { DoctorDocument as Doctor } from '../cli/doctor/document.ts'
export type { Event } from '../contract/event.ts'
export type { Finding } from '../contract/finding.ts'
export { HyperkubeError } from '../kit/errors.ts'
export type { PlanDocument as Plan } from '../lifecycle/proposal/plan-approval.ts'
export type { StatusDocument as Status } from '../lifecycle/status/status-report.ts'
export type { Cluster } from '../spec/cluster.ts'

/** Options of `openCluster`. */
export interface OpenClusterOptions {
  /** Path of cluster.yml. Its lock and identity are beside it. */
  readonly file: string
  /** Path of the key of the identity. Default: the path where `hyperkube init` stores it. */
  readonly key?: string
  /**
   * Path of the hyperkube executable of this release for this machine. `plan` and `up` install it on hosts;
   * executables for other systems are beside it. `status` and `doctor` do not need it.
   */
  readonly executable?: string
  /** Aborts all operations. Work in progress on hosts is finished first. */
  readonly signal?: AbortSignal
}

/** Options of `status` and `doctor`. */
export interface ClusterObserveOptions {
  /** Names of hosts. Default: all hosts. */
  readonly hosts?: readonly string[]
}

/** Options of `plan`. */
export interface ClusterPlanOptions extends ClusterObserveOptions {
  /** Codes of findings that do not stop the planning. */
  readonly ignore?: readonly string[]
  readonly onEvent?: (event: Event) => void
}

/** Options of `up`. */
export interface ClusterUpOptions {
  /** Plan that was reviewed. `up` makes no change that it does not contain, else it throws `PLAN_OUTDATED`. */
  readonly plan: PlanDocument
  /** The same codes as for the plan. */
  readonly ignore?: readonly string[]
  readonly onEvent?: (event: Event) => void
}

/** Result of a successful `up`. */
export interface ClusterUpResult {
  /** `pending`: some hosts were unreachable and are not changed yet. */
  readonly outcome: 'done' | 'unchanged' | 'pending'
  /** Number of ops that changed something. */
  readonly ops: number
  readonly changedHosts: readonly string[]
  /** Hosts that were unreachable. */
  readonly leftBehind: readonly string[]
}

/** A cluster. Each call opens its own connections and closes them at its end. */
export interface ClusterHandle {
  /** Contents of cluster.yml with all defaults. */
  readonly cluster: Cluster
  /** Warnings about cluster.yml. */
  readonly findings: readonly Finding[]
  /** Observes the health of hosts, etcd, API servers, nodes and addons. Changes nothing. */
  readonly status: (options?: ClusterObserveOptions) => Promise<StatusDocument>
  /** Lists problems with their causes, evidence and the commands that fix them. Changes nothing. */
  readonly doctor: (options?: ClusterObserveOptions) => Promise<DoctorDocument>
  /**
   * Plans the changes that bring the hosts to cluster.yml. Installs the hyperkube agent on new hosts, and
   * changes nothing else. If a finding of the plan is an error, the plan has no steps.
   */
  readonly plan: (options?: ClusterPlanOptions) => Promise<PlanDocument>
  /** Makes the changes of a plan. Throws if a step fails; the same call then continues. */
  readonly up: (options: ClusterUpOptions) => Promise<ClusterUpResult>
}

/**
 * Reads cluster.yml and returns a handle for its cluster. Connects to no host. Throws `SPEC_NOT_VALID` with
 * the first error of the file; `readClusterText` of `hyperkube` returns all of them.
 */
export async function openCluster(options: OpenClusterOptions): Promise<ClusterHandle> {
  const { file, key, executable, signal = new AbortController().signal } = options
  const context = createWorkspaceContext({ executable, signal, writeLine: () => undefined })
  const files: ClusterFiles = { file, ...(key === undefined ? {} : { key }) }
  const { cluster, findings } = await loadCluster(context, file)
  if (cluster === undefined) throw buildNotValidError(file, findings)
  return {
    cluster,
    findings,
    status: async (observe) => observeStatus(context, files, cluster, observe),
    doctor: async (observe) => observeProblems(context, files, cluster, observe),
    plan: async (plan) => planHosts(context, files, cluster, plan),
    up: async (apply) => applyPlan(context, files, cluster, apply),
  }
}

function buildNotValidError(file: string, findings: readonly Finding[]): HyperkubeError {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const [first] = errors
  const position = first?.position === undefined ? file : `${file}:${first.position.line}`
  return new HyperkubeError(
    'SPEC_NOT_VALID',
    `${position} has ${errors.length} errors; the first: ${first?.path ?? ''} ${first?.message ?? ''}`,
    { hint: `show all errors: hyperkube validate -f ${file}` },
  )
}

function selectHosts(cluster: Cluster, hosts: readonly string[] | undefined): ReadonlySet<string> {
  return new Set(limitHosts(cluster, hosts).map(({ name }) => name))
}

async function observeStatus(
  context: WorkspaceContext,
  files: ClusterFiles,
  cluster: Cluster,
  { hosts }: ClusterObserveOptions = {},
): Promise<StatusDocument> {
  const only = selectHosts(cluster, hosts)
  const { name } = cluster.metadata
  const identity = await openIdentity(context, files, name)
  await using opened = await connectToCluster(context, files.file, cluster, identity)
  const { now, signal } = context
  const observed = await observeClusterHealth(opened.endpoints, opened.deps, {
    only,
    now,
    signal,
    fresh: false,
    deep: false,
    certificates: true,
  })
  return buildStatusDocument(name, buildStatusReport(observed, cluster.spec, identity))
}

async function observeProblems(
  context: WorkspaceContext,
  files: ClusterFiles,
  cluster: Cluster,
  { hosts }: ClusterObserveOptions = {},
): Promise<DoctorDocument> {
  const only = selectHosts(cluster, hosts)
  const { name } = cluster.metadata
  const identity = await openIdentity(context, files, name)
  await using opened = await connectToCluster(context, files.file, cluster, identity)
  const { now, signal } = context
  const { at, diagnoses } = await examineCluster(opened.endpoints, opened.deps, {
    only,
    ...selectIngressCheck(cluster),
    now,
    signal,
  })
  return buildDoctorDocument(name, at, diagnoses)
}

async function planHosts(
  context: WorkspaceContext,
  files: ClusterFiles,
  cluster: Cluster,
  { hosts, ignore = [], onEvent }: ClusterPlanOptions = {},
): Promise<PlanDocument> {
  const selected = selectHosts(cluster, hosts)
  const inputs = await loadClusterInputs(context, files, cluster, { beforeCommit: true })
  const options = { files, forgetHostKeys: [], ignore, limit: hosts, fileContents: false }
  const { proposal } = await runWithEvents(context, 'plan', [onEvent], async (run) =>
    planFromHosts(context, inputs, options, run),
  )
  const removed = proposal.hostsToRemove.map(({ host }) => host)
  return buildPlanDocument(proposal, new Set([...selected, ...removed]))
}

async function applyPlan(
  context: WorkspaceContext,
  files: ClusterFiles,
  cluster: Cluster,
  { plan, ignore = [], onEvent }: ClusterUpOptions,
): Promise<ClusterUpResult> {
  const inputs = await loadClusterInputs(context, files, cluster, { beforeCommit: true })
  const counters = createRunCounters()
  let leftBehind: readonly string[] = []
  const { status, result } = await runWithEvents(context, 'up', [counters.onEvent, onEvent], async (run) =>
    up(
      context,
      inputs,
      {
        files,
        forgetHostKeys: [],
        limit: undefined,
        ignore,
        forceUnlock: false,
        dryRun: false,
        plan: { file: 'the plan', document: plan },
        onConnected: ({ unreachable }) => (leftBehind = [...unreachable.keys()]),
      },
      run,
    ),
  )
  if (result.outcome === 'failed') throw toHyperkubeError(result)
  const outcome = status === 'changes-pending' ? 'pending' : result.outcome === 'done' ? 'done' : 'unchanged'
  return { outcome, ops: counters.ops(), changedHosts: counters.hosts(), leftBehind }
}

function toHyperkubeError({ failure }: Extract<StepResult, { outcome: 'failed' }>): HyperkubeError {
  const { code, message, hint } = failure
  return new HyperkubeError(code, message, hint === undefined ? {} : { hint })
}

/**
 * Runs an action without a terminal. Unknown ssh host keys are refused, because only a person can confirm
 * them.
 */
async function runWithEvents<T extends ActionOutcome>(
  { now, signal }: WorkspaceContext,
  command: string,
  listeners: readonly (((event: Event) => void) | undefined)[],
  action: (run: ActionRun) => Promise<T>,
): Promise<T> {
  const emit = createEventStream(
    randomUUID(),
    now,
    listeners.filter((listener) => listener !== undefined),
  )
  emit({ type: 'run-started', command })
  try {
    const outcome = await action({
      emit,
      show: () => undefined,
      confirm: async () => 'no-terminal',
      decideProvisional: async () => 'no-prompt',
    })
    emit({ type: 'run-ended', result: outcome.result })
    return outcome
  } catch (error) {
    const result: StepResult = signal.aborted
      ? { outcome: 'interrupted' }
      : { outcome: 'failed', failure: toStepFailure(error) }
    emit({ type: 'run-ended', result })
    throw error
  }
}
