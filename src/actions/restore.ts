import { randomUUID } from 'node:crypto'
import { type EtcdRestoreId, etcdUnit } from '../contract/etcd-restore.ts'
import { type Finding, hasErrors } from '../contract/finding.ts'
import type { EtcdClient } from '../etcd/client.ts'
import { ignoreEtcdError } from '../etcd/etcd-error.ts'
import type { EtcdMember, KeyCount } from '../etcd/member.ts'
import type { Identity } from '../identity/identity.ts'
import { buildSigningKey } from '../identity/signing-key.ts'
import { formatCount } from '../kit/text.ts'
import { reportSingleStep } from '../lifecycle/agents/event-stream.ts'
import { buildEtcdUrl } from '../lifecycle/cluster-client/connections.ts'
import { createClusterClient } from '../lifecycle/cluster-client/create-cluster-client.ts'
import {
  findRestoreToResume,
  listHostsWithData,
  listOpsAfterRestore,
  listRestoreOps,
} from '../lifecycle/etcd/restore-ops.ts'
import { type NewEtcdMember, type RestoreArchive, restoreEtcd } from '../lifecycle/etcd/restore.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import {
  type HostEndpoint,
  listCurrentEndpoints,
  listPlannedEndpoints,
} from '../lifecycle/inputs/host-endpoints.ts'
import type { ProposalClient } from '../lifecycle/proposal/build-proposal.ts'
import type { Proposal } from '../lifecycle/proposal/proposal.ts'
import { readHostFacts } from '../lifecycle/proposal/read-hosts.ts'
import { findHostsToRemove } from '../lifecycle/proposal/hosts-to-remove.ts'
import type { PlannedChanges } from '../lifecycle/proposal/plan-approval.ts'
import { buildMemberArchive, type EtcdPeer, formatEtcdPeer } from '../snapshot/member-data.ts'
import type { EtcdPrograms } from '../snapshot/temporary-etcd.ts'
import type { ExtractedSnapshot } from '../snapshot/verify.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { openClusterBundle } from '../workspace/open-cluster-bundle.ts'
import { createEtcdClient } from '../workspace/open-cluster.ts'
import {
  type ActionOutcome,
  type ActionRun,
  buildRefusedOutcome,
  buildUnconfirmedOutcome,
  refuse,
} from './phases/action-run.ts'
import { connectCluster } from './phases/connect.ts'
import { withOperatorLock } from './phases/with-operator-lock.ts'
import { createRemoteLookup, proposeChanges } from './phases/propose.ts'
import { checkRestore } from './phases/restore-findings.ts'
import { buildUnreachableFindings } from './phases/unreachable-findings.ts'
import { changeConnectedHosts, type ConnectedUp, type UpOptions } from './up.ts'

/** A snapshot that passed all checks. */
export interface VerifiedSnapshot extends ExtractedSnapshot {
  readonly name: string
  /** The identity inside the snapshot. */
  readonly previousIdentity: Identity
}

export interface RestoreOptions extends Pick<
  UpOptions,
  'files' | 'forgetHostKeys' | 'ignore' | 'forceUnlock' | 'dryRun'
> {
  readonly snapshot: VerifiedSnapshot
  readonly programs: EtcdPrograms
  /** Local directory for the data of members until it is uploaded. */
  readonly directory: string
  /** Called with the planned changes before the operator is prompted. */
  readonly onPlanned?: (changes: PlannedChanges) => void
}

/** Restores a cluster from a verified snapshot. */
export async function restoreCluster(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: RestoreOptions,
  run: ActionRun,
): Promise<ActionOutcome> {
  await using connection = await connectCluster(context, inputs, options, run)
  return await restoreConnectedHosts({
    ...connection,
    context,
    options,
    run,
    createClient: createClusterClient,
  })
}

export interface ConnectedRestore extends Omit<ConnectedUp, 'options' | 'restored'> {
  readonly options: RestoreOptions
}

/**
 * Restores etcd on connected hosts. Phases: propose the state after the restore, check the snapshot against
 * the cluster, show, confirm by name, replace the data of etcd, run `up`.
 */
export async function restoreConnectedHosts(deps: ConnectedRestore): Promise<ActionOutcome> {
  const { context, options, inputs, connected, run } = deps
  const { cluster } = inputs
  const members = listMembers(cluster, []).map(({ host }) => host)
  // All members must be reachable: an unreachable member would come back with its old data.
  const unreachable = buildUnreachableFindings(connected.unreachable, new Set(members)).map((one) =>
    one.severity === 'error' ? { ...one, hint: unreachableMemberHint } : one,
  )
  if (hasErrors(unreachable)) return refuse(run, unreachable)
  const stopped = { ...deps, connected: { ...connected, restores: new Map() }, restored: members }
  const proposal = await proposeAfterRestore(stopped, members)
  if (hasErrors(proposal.findings)) return buildRefusedOutcome(proposal.findings)
  const { current, findings } = await checkCluster(deps, proposal)
  if (hasErrors(findings)) return refuse(run, findings)
  for (const finding of findings) run.emit({ type: 'finding', finding })
  const hosts = [...connected.sessions.keys()]
  options.onPlanned?.(buildPlannedChanges(proposal, hosts, members))
  run.show({ type: 'restore', ...options.snapshot, now: context.now(), current, members, hosts })
  if (options.dryRun) return { status: 'changes-pending', result: { outcome: 'unchanged' } }
  const confirmation = await run.confirm({ type: 'cluster-name', name: cluster.metadata.name })
  if (confirmation !== 'confirmed') return buildUnconfirmedOutcome(confirmation)
  // All members are reachable, so each one has a plan.
  const peers = listPlannedEndpoints(proposal.plans).flatMap(({ host, address, etcd }) =>
    etcd ? [{ name: host, address }] : [],
  )
  await replaceEtcdData(deps, proposal, peers)
  // Ignores HOST_DRIFT, because services that the restore has just stopped would be reported as drift.
  const ignore = [...options.ignore, ...ignoredInRestore, 'HOST_DRIFT']
  return changeConnectedHosts({
    ...stopped,
    options: { ...options, limit: undefined, ignore },
    run: { ...run, confirm: async () => 'confirmed' },
  })
}

/**
 * Findings that do not apply to a restore. An older snapshot needs the identity of its time, and `checkRestore` compares
 * the two.
 */
const ignoredInRestore = ['IDENTITY_OUTDATED']

/** Proposes the changes that remain after a restore, when the services of the cluster are stopped. */
async function proposeAfterRestore(
  deps: ConnectedRestore & Pick<ConnectedUp, 'restored'>,
  members: readonly string[],
): Promise<Proposal> {
  return proposeChanges({
    ...deps,
    limit: undefined,
    ignore: [...deps.options.ignore, ...ignoredInRestore],
    createClient: async () => stoppedCluster,
    expected: (plan, ops) => listOpsAfterRestore({ plan, ops, member: members.includes(plan.host) }),
  })
}

interface CheckedCluster extends Pick<CurrentEtcd, 'current'> {
  readonly findings: readonly Finding[]
}

/** Compares the snapshot with the etcd that it replaces. */
async function checkCluster(
  { context, options, inputs, connected }: ConnectedRestore,
  { plans }: Proposal,
): Promise<CheckedCluster> {
  const { cluster, identity } = inputs
  const endpoints = listMembers(cluster, plans)
  using etcd = await createEtcdClient(context, identity, endpoints, createRemoteLookup(connected))
  const { members, current } = await readCurrentEtcd(etcd, endpoints)
  const leftOut = findHostsToRemove(listCurrentEndpoints(cluster, plans), members, []).map(({ host }) => host)
  // A restore that continues may have written its data already.
  const due = new Set(endpoints.map(({ host }) => host).filter((host) => !connected.restores.has(host)))
  const facts = await readHostFacts(new Map([...connected.sessions].filter(([host]) => due.has(host))))
  const findings = checkRestore({
    ...options.snapshot,
    disks: new Map([...facts].map(([host, { system }]) => [host, system.disks])),
    currentIdentity: identity,
    kubernetes: cluster.spec.kubernetes,
    leftOut,
  }).filter(({ code }) => !options.ignore.includes(code))
  return { current, findings }
}

const unreachableMemberHint =
  'a restore writes the data of every etcd member: restore ssh access, or remove the host from cluster.yml if it is lost permanently'

function listMembers(cluster: Cluster, plans: Proposal['plans']): HostEndpoint[] {
  return listCurrentEndpoints(cluster, plans).filter(({ etcd }) => etcd)
}

/** Combines the changes of the restore with the changes of the rollout that follows. */
function buildPlannedChanges(
  proposal: Proposal,
  hosts: readonly string[],
  members: readonly string[],
): PlannedChanges {
  const ops = proposal.plans.map((plan) => {
    const hostOps = proposal.ops.get(plan.host) ?? []
    const restoreOps = listRestoreOps({ plan, ops: hostOps, member: members.includes(plan.host) })
    return [plan.host, [...restoreOps, ...hostOps]] as const
  })
  const steps = [
    { id: 'stop', hosts },
    { id: 'stop-etcd', hosts: members },
    { id: 'restore-data', hosts: members },
  ]
  return { ...proposal, ops: new Map(ops), steps: [...steps, ...proposal.steps] }
}

async function replaceEtcdData(
  deps: ConnectedRestore,
  proposal: Proposal,
  peers: readonly EtcdPeer[],
): Promise<void> {
  const { context, options, inputs, connected, run, deferAbort } = deps
  const members = peers.map(({ name }) => name)
  const target = {
    snapshot: options.snapshot.manifest.files['etcd.db'].sha256,
    members: peers.map(formatEtcdPeer),
  }
  const restore = findRestoreToResume(connected.restores, target) ?? { id: randomUUID(), ...target }
  const restoredMembers = listHostsWithData(connected.restores, restore.id)
  const due = peers.filter(({ name }) => !restoredMembers.has(name))
  const archives = await reportSingleStep(
    { emit: run.emit, signal: context.signal },
    { step: 'make', title: `prepare the data of ${formatCount(due.length, 'etcd member')}`, hosts: [] },
    async () => buildArchives(deps, restore, peers, due),
  )
  const newMembers = findNewMembers(proposal, new Set(members))
  const others = [...connected.restores].filter(([host]) => !members.includes(host))
  const stale = new Map(others.map(([host, { id }]) => [host, id]))
  const { publicKey } = buildSigningKey(inputs.identity)
  await using bundle = await openClusterBundle(context, options.files.file, inputs.cluster, publicKey)
  deferAbort()
  await withOperatorLock({ ...deps, forceUnlock: options.forceUnlock }, async ({ claim }, signal) =>
    restoreEtcd(
      inputs,
      { restore, members, archives, newMembers, staleRestores: stale },
      connected.sessions,
      {
        claim,
        bundle,
        emit: run.emit,
        now: context.now,
        signal,
      },
    ),
  )
}

/** Builds the archives one after the other, because each archive needs as much disk space as the database. */
async function buildArchives(
  { context, inputs, options }: ConnectedRestore,
  { id }: EtcdRestoreId,
  members: readonly EtcdPeer[],
  due: readonly EtcdPeer[],
): Promise<ReadonlyMap<string, RestoreArchive>> {
  const { snapshot, programs, directory } = options
  const token = `${inputs.identity.id}-${id.slice(0, 8)}`
  const archives = new Map<string, RestoreArchive>()
  for (const peer of due) {
    const data = { database: snapshot.file, members, token }
    archives.set(peer.name, await buildMemberArchive(programs, data, peer, directory, context.signal))
  }
  return archives
}

/** Finds members on which etcd was never installed. */
function findNewMembers({ plans, ops }: Proposal, members: ReadonlySet<string>): readonly NewEtcdMember[] {
  return plans
    .filter(({ host }) => members.has(host))
    .map((plan) => ({ plan, ops: ops.get(plan.host) ?? [] }))
    .filter(({ ops: hostOps }) =>
      hostOps.some(({ name, action }) => name === etcdUnit && action === 'create'),
    )
}

/** Client of a stopped cluster. Every method returns what a cluster without running services would return. */
const stoppedCluster: ProposalClient = {
  members: async () => [],
  unconfirmedMembers: async () => [],
  etcdIds: async () => new Map(),
  readApiState: async () => undefined,
  drainFindings: async () => [],
  findUpgradeProblems: async () => [],
  [Symbol.dispose]: () => undefined,
}

interface CurrentEtcd {
  /** Member list of a single etcd member. It was read without a quorum, so it may be outdated. */
  readonly members: readonly EtcdMember[]
  /** Key count of the member with the highest revision; undefined if no member responds. */
  readonly current: KeyCount | undefined
}

/** Reads the member list and the key count from members that respond. */
async function readCurrentEtcd(etcd: EtcdClient, endpoints: readonly HostEndpoint[]): Promise<CurrentEtcd> {
  const options = { timeoutMs: 3000 }
  const counts = await Promise.all(
    endpoints.map(async (endpoint) => etcd.countKeys(buildEtcdUrl(endpoint), options).catch(ignoreEtcdError)),
  )
  const [current] = counts.flatMap((one) => one ?? []).toSorted((a, b) => b.revision - a.revision)
  const list =
    current === undefined
      ? undefined
      : await etcd.members({ ...options, unconfirmed: true }).catch(ignoreEtcdError)
  return { members: list?.members ?? [], current }
}
