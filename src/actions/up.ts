import { hasErrors } from '../contract/finding.ts'
import { forgetHostKey } from '../identity/host-key.ts'
import { forgetAdoptedHost } from '../identity/identity.ts'
import { buildSigningKey } from '../identity/signing-key.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { joinNames } from '../kit/text.ts'
import { createClusterClient } from '../lifecycle/cluster-client/create-cluster-client.ts'
import { execute } from '../lifecycle/execute/execute.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import { listPlannedEndpoints } from '../lifecycle/inputs/host-endpoints.ts'
import { findUnapprovedChanges, type PlanDocument } from '../lifecycle/proposal/plan-approval.ts'
import { hasChanges, type Proposal } from '../lifecycle/proposal/proposal.ts'
import {
  type PlannedProvisionalChange,
  planProvisionalChange,
  type ProvisionalOptions,
} from '../lifecycle/provisional/plan-provisional.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { saveIdentity } from '../workspace/load-identity.ts'
import { openClusterBundle } from '../workspace/open-cluster-bundle.ts'
import { buildClientOptions } from '../workspace/open-cluster.ts'
import {
  type ActionOutcome,
  type ActionRun,
  buildRefusedOutcome,
  buildUnconfirmedOutcome,
  refuse,
} from './phases/action-run.ts'
import { type ClusterConnection, connectCluster, type ConnectClusterOptions } from './phases/connect.ts'
import { buildDesiredObjects } from './phases/desired-objects.ts'
import { withOperatorLock } from './phases/with-operator-lock.ts'
import { type CreateClusterClient, createRemoteLookup, proposeChanges } from './phases/propose.ts'
import { type ProvisionalEnd, settleProvisionalChange } from './phases/settle-provisional.ts'

export interface UpOptions extends ConnectClusterOptions {
  /** Hosts to change; undefined for all hosts. */
  readonly limit: readonly string[] | undefined
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  readonly forceUnlock: boolean
  /** Whether changes are only shown. */
  readonly dryRun: boolean
  /** Plan to which changes are limited; other changes are refused. */
  readonly plan?: ApprovedPlan | undefined
  /** If set, hosts roll back by themselves unless the change is confirmed. */
  readonly provisional?: ProvisionalOptions | undefined
  /** Whether to renew all certificates, even those that are valid for a long time. */
  readonly renew?: boolean
  /** True for `adopt commit`, which requires that all hosts have moved. */
  readonly commits?: boolean
  /**
   * Saves the inputs. Called when the operator has confirmed the changes, or when there is nothing to change.
   */
  readonly persist?: (() => Promise<void>) | undefined
  /** Called when all reachable hosts are connected. */
  readonly onConnected?: (connected: ClusterConnection['connected']) => void
  /** Called with the planned changes before the operator is prompted. */
  readonly onProposed?: (proposal: Proposal) => void
}

export interface ApprovedPlan {
  readonly file: string
  readonly document: PlanDocument
}

export interface UpOutcome extends ActionOutcome {
  readonly provisional?: ProvisionalEnd
}

/** Brings a cluster to its desired state. An interrupted run is resumed by running the action again. */
export async function up(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: UpOptions,
  run: ActionRun,
): Promise<UpOutcome> {
  await using connection = await connectCluster(context, inputs, options, run)
  options.onConnected?.(connection.connected)
  return await changeConnectedHosts({
    ...connection,
    context,
    options,
    run,
    createClient: createClusterClient,
  })
}

export interface ConnectedUp extends Omit<ClusterConnection, keyof AsyncDisposable> {
  readonly context: WorkspaceContext
  readonly options: UpOptions
  readonly run: ActionRun
  readonly createClient: CreateClusterClient
  /** Hosts whose etcd data was restored and whose etcd has not been started after the restore. */
  readonly restored?: readonly string[]
}

/**
 * Phases of `up` on connected hosts: propose, plan the rollback, show, check the approval, confirm, save,
 * execute, settle. If a phase before `execute` finds problems, the action ends without changing any host.
 */
export async function changeConnectedHosts(deps: ConnectedUp): Promise<UpOutcome> {
  const { connected, options, run } = deps
  const proposal = await propose(deps)
  if (hasErrors(proposal.findings)) return buildRefusedOutcome(proposal.findings)
  const { findings, provisional } = await planRollback(deps, proposal)
  if (findings.length > 0) return refuse(run, findings)
  run.show({ type: 'proposal', cluster: deps.inputs.cluster, proposal, provisional })
  if (options.dryRun) return buildDryRunOutcome(proposal)
  if (hasChanges(proposal) || provisional !== undefined) {
    const confirmation = await confirm(deps, proposal)
    if (confirmation !== 'confirmed') return buildUnconfirmedOutcome(confirmation)
    await options.persist?.()
    await executeAndForget(deps, proposal, provisional)
    const outcome = buildOutcome(connected, 'done')
    return provisional === undefined
      ? outcome
      : settleProvisionalChange({ ...deps, forceUnlock: options.forceUnlock }, provisional, outcome)
  }
  await options.persist?.()
  return buildOutcome(connected, 'unchanged')
}

async function propose(deps: ConnectedUp): Promise<Proposal> {
  const { options, restored = [] } = deps
  const { limit, ignore, renew = false, commits = false } = options
  const allowProvisional = options.provisional !== undefined
  const proposal = await proposeChanges({
    ...deps,
    limit,
    ignore,
    renew,
    commits,
    restored,
    allowProvisional,
  })
  options.onProposed?.(proposal)
  return proposal
}

interface RollbackPlan {
  readonly findings: Proposal['findings']
  /** Undefined if the change is not provisional, or if no host is part of it. */
  readonly provisional: PlannedProvisionalChange | undefined
}

async function planRollback(
  { inputs, connected, options }: ConnectedUp,
  proposal: Proposal,
): Promise<RollbackPlan> {
  if (options.provisional === undefined) return { findings: [], provisional: undefined }
  const { findings, provisional } = await planProvisionalChange(
    options.provisional,
    inputs,
    proposal,
    connected.sessions,
    connected.provisionalChanges,
  )
  return { findings, provisional: provisional.hosts.size === 0 ? undefined : provisional }
}

/** Asks the operator, unless a plan file was approved. A plan file counts as confirmation. */
async function confirm({ options, run }: ConnectedUp, proposal: Proposal): ReturnType<ActionRun['confirm']> {
  if (options.plan === undefined) return run.confirm({ type: 'changes' })
  requireApproved(options.plan, proposal)
  return 'confirmed'
}

/**
 * Throws if the proposal contains changes that are missing from the approved plan. Hosts or files may have
 * changed after the plan was approved.
 */
function requireApproved({ file, document }: ApprovedPlan, proposal: Proposal): void {
  const unapproved = findUnapprovedChanges(document, proposal)
  if (unapproved.length === 0) return
  const message = `up would now make changes that ${file} does not contain: ${joinNames(unapproved)}`
  throw new HyperkubeError('PLAN_OUTDATED', message, {
    hint: `review the changes and save the plan again: hyperkube plan --out ${file}`,
  })
}

async function executeAndForget(
  deps: ConnectedUp,
  proposal: Proposal,
  provisional: PlannedProvisionalChange | undefined,
): Promise<void> {
  const { context, options, inputs } = deps
  const removed = await executeProposal(deps, proposal, provisional)
  // Forgets removed hosts, because another machine may later get the name of a removed host.
  if (removed.size > 0)
    await saveIdentity(
      context,
      options.files,
      [...removed].reduce(
        (identity, host) => forgetAdoptedHost(forgetHostKey(identity, host), host),
        inputs.identity,
      ),
    )
}

function buildDryRunOutcome(proposal: Proposal): ActionOutcome {
  return { status: hasChanges(proposal) ? 'changes-pending' : 'ok', result: { outcome: 'unchanged' } }
}

/** Builds the outcome. If any host is unreachable, changes are still pending. */
function buildOutcome(
  { unreachable }: ClusterConnection['connected'],
  outcome: 'done' | 'unchanged',
): ActionOutcome {
  return { status: unreachable.size === 0 ? 'ok' : 'changes-pending', result: { outcome } }
}

/** Makes all proposed changes under the operator lock. Returns the hosts that were removed. */
async function executeProposal(
  deps: ConnectedUp,
  proposal: Proposal,
  provisional: PlannedProvisionalChange | undefined,
): Promise<ReadonlySet<string>> {
  const { context, options, inputs, connected, removedHosts, run, createClient, deferAbort } = deps
  const removed = new Set<string>()
  const { publicKey } = buildSigningKey(inputs.identity)
  await using bundle = await openClusterBundle(context, options.files.file, inputs.cluster, publicKey)
  // Interrupts are deferred before the lock is acquired, because a granted lock must be released.
  deferAbort()
  const lockDeps = { ...deps, forceUnlock: options.forceUnlock }
  await withOperatorLock(lockDeps, async ({ claim, forgetHost }, signal) => {
    const clientOptions = {
      ...buildClientOptions(inputs, context, createRemoteLookup(connected, removedHosts)),
      objects: buildDesiredObjects(inputs.cluster, proposal.plans),
      signal: deps.deferredSignal,
    }
    using client = await createClient(
      [...listPlannedEndpoints(proposal.plans), ...proposal.hostsToRemove],
      clientOptions,
    )
    const startedAt = context.now()
    await execute(inputs, proposal, connected.sessions, {
      claim,
      onRemoved(host) {
        forgetHost(host)
        removed.add(host)
      },
      removedSessions: removedHosts.sessions,
      client,
      bundle,
      provisional,
      emit: run.emit,
      now: context.now,
      signal,
    }).catch((error: unknown) => {
      if (provisional !== undefined) run.show({ type: 'provisional-unfinished', provisional, startedAt })
      throw error
    })
  })
  return removed
}
