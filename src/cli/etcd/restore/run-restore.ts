import { randomUUID } from 'node:crypto'
import { type EtcdRestoreId, etcdUnit } from '../../../contract/etcd-restore.ts'
import { type Finding, hasErrors } from '../../../contract/finding.ts'
import type { EtcdClient } from '../../../etcd/client.ts'
import { ignoreEtcdError } from '../../../etcd/etcd-error.ts'
import type { EtcdMember, KeyCount } from '../../../etcd/member.ts'
import { deriveBundleKey } from '../../../identity/bundle-key.ts'
import type { Identity } from '../../../identity/identity.ts'
import type { Proposal } from '../../../lifecycle/build-proposal.ts'
import type { ClusterReader } from '../../../lifecycle/cluster-access.ts'
import { reportSingleStep } from '../../../lifecycle/event-stream.ts'
import { type HostEndpoint, listCurrentEndpoints } from '../../../lifecycle/host-endpoints.ts'
import { findHostsToRemove } from '../../../lifecycle/hosts-to-remove.ts'
import type { PlannedChanges } from '../../../lifecycle/plan-document.ts'
import {
  type NewEtcdMember,
  type RestoreArchive,
  restoreEtcd,
} from '../../../lifecycle/restore/restore-etcd.ts'
import { listOpsAfterRestore, listRestoreOps } from '../../../lifecycle/restore/restore-ops.ts'
import { findRestoreToResume, listHostsWithData } from '../../../lifecycle/restore/unfinished-restore.ts'
import { buildMemberArchive, type EtcdPeer, formatEtcdPeer } from '../../../snapshot/member-data.ts'
import type { EtcdPrograms } from '../../../snapshot/temporary-etcd.ts'
import type { ExtractedSnapshot } from '../../../snapshot/verify.ts'
import type { Cluster } from '../../../spec/cluster.ts'
import { openClusterBundle } from '../../bundle/open-cluster-bundle.ts'
import { exitCodes } from '../../command.ts'
import { formatCount } from '../../format-text.ts'
import { confirmByName } from '../../reset/confirm-by-name.ts'
import type { CommandOutcome } from '../../run-with-progress.ts'
import { withOperatorLock } from '../../up/operator-lock.ts'
import { proposeAndExecute } from '../../up/propose-and-execute.ts'
import type { UpDeps } from '../../up/up-deps.ts'
import { createRemoteLookup, proposeChanges } from '../../up/propose.ts'
import { buildRefusedResult } from '../../up/refused-result.ts'
import { buildUnreachableFindings } from '../../up/unreachable-findings.ts'
import { createEtcdClient } from '../open-etcd.ts'
import { checkRestore } from './findings.ts'
import { formatRestore } from './text.ts'

/** A snapshot that passed all checks. */
export interface VerifiedSnapshot extends ExtractedSnapshot {
  readonly name: string
  /** The identity inside the snapshot. */
  readonly previousIdentity: Identity
}

export interface RestoreDeps extends Omit<UpDeps, 'restored'> {
  readonly snapshot: VerifiedSnapshot
  readonly programs: EtcdPrograms
  /** Local directory for the data of members until it is uploaded. */
  readonly directory: string
}

/**
 * Inspects the connected hosts, shows what would be lost, asks for confirmation, and restores the cluster
 * from a snapshot.
 */
export async function runRestore(deps: RestoreDeps): Promise<CommandOutcome> {
  const { context, options, inputs, connected, flags, run, snapshot } = deps
  const { cluster, identity } = inputs
  const members = listMembers(cluster, [])
  const names = members.map(({ host }) => host)
  // All members must be reachable: an unreachable one would come back with its old data.
  const unreachable = buildUnreachableFindings(connected.unreachable, new Set(names)).map((one) =>
    one.severity === 'error' ? { ...one, hint: unreachableMemberHint } : one,
  )
  if (hasErrors(unreachable)) return reportRefused(deps, unreachable)
  const restoredDeps = { ...deps, connected: { ...connected, restores: new Map() }, restored: names }
  // Proposes the changes that are left after all services have been stopped.
  const proposal = await proposeChanges({
    ...restoredDeps,
    ignore: flags.ignore,
    createClient: async () => stoppedCluster,
    expected: (plan, ops) => listOpsAfterRestore({ plan, ops, member: names.includes(plan.host) }),
  })
  if (hasErrors(proposal.findings)) return buildRefusedResult(proposal.findings)
  const endpoints = listMembers(cluster, proposal.plans)
  using etcd = await createEtcdClient(context, identity, endpoints, createRemoteLookup(connected))
  const etcdState = await readCurrentEtcd(etcd, endpoints)
  const leftOut = findHostsToRemove(listCurrentEndpoints(cluster, proposal.plans), etcdState.members, []).map(
    ({ host }) => host,
  )
  const findings = checkRestore({
    ...snapshot,
    currentIdentity: identity,
    kubernetes: cluster.spec.kubernetes,
    leftOut,
  }).filter(({ code }) => !flags.ignore.includes(code))
  if (hasErrors(findings)) return reportRefused(deps, findings)
  for (const finding of findings) run.emit({ type: 'finding', finding })
  const { name, manifest } = snapshot
  const hosts = [...connected.sessions.keys()]
  deps.onPlanned?.(buildPlannedChanges(proposal, hosts, names))
  run.print(
    formatRestore({ name, manifest, now: context.now(), current: etcdState.current, members: names, hosts }),
  )
  if (flags.dryRun) return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
  const confirmed = await confirmByName(context, options, cluster.metadata.name, flags.canPrompt)
  if (confirmed !== true) return { code: confirmed, result: { outcome: 'unchanged' } }
  const peers = endpoints.map(({ host, address }) => ({ name: host, address }))
  await replaceEtcdData(deps, proposal, peers)
  // Services that the restore has just stopped would be reported as drift.
  const ignore = [...flags.ignore, 'HOST_DRIFT']
  return await proposeAndExecute({
    ...restoredDeps,
    options: { ...options, yes: true },
    flags: { ...flags, ignore },
  })
}

const unreachableMemberHint =
  'every member is given its data: bring it back, or take it out of cluster.yml if it is lost for good'

function listMembers(cluster: Cluster, plans: Proposal['plans']): HostEndpoint[] {
  return listCurrentEndpoints(cluster, plans).filter(({ etcd }) => etcd)
}

/** Combines the changes of the restore with those of the rollout after it. */
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

function reportRefused({ run }: RestoreDeps, findings: readonly Finding[]): CommandOutcome {
  for (const finding of findings) run.emit({ type: 'finding', finding })
  return buildRefusedResult(findings)
}

async function replaceEtcdData(
  deps: RestoreDeps,
  proposal: Proposal,
  peers: readonly EtcdPeer[],
): Promise<void> {
  const { context, options, inputs, connected, flags, run, snapshot, deferAbort } = deps
  const members = peers.map(({ name }) => name)
  const target = { snapshot: snapshot.manifest.files['etcd.db'].sha256, members: peers.map(formatEtcdPeer) }
  const restore = findRestoreToResume(connected.restores, target) ?? { id: randomUUID(), ...target }
  const restoredMembers = listHostsWithData(connected.restores, restore.id)
  const due = peers.filter(({ name }) => !restoredMembers.has(name))
  const archives = await reportSingleStep(
    { emit: run.emit, signal: context.signal },
    { step: 'make', title: `make the data of ${formatCount(due.length, 'member')}`, hosts: [] },
    async () => buildArchives(deps, restore, peers, due),
  )
  const newMembers = findNewMembers(proposal, new Set(members))
  const others = [...connected.restores].filter(([host]) => !members.includes(host))
  const stale = new Map(others.map(([host, { id }]) => [host, id]))
  const { publicKey } = deriveBundleKey(inputs.identity)
  await using bundle = await openClusterBundle(context, options.file, inputs.cluster, publicKey)
  deferAbort()
  await withOperatorLock({ ...deps, forceUnlock: flags.forceUnlock }, async ({ claim }, signal) =>
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

/** Builds the archives one after the other, because each needs as much disk space as the database. */
async function buildArchives(
  { context, inputs, snapshot, programs, directory }: RestoreDeps,
  { id }: EtcdRestoreId,
  members: readonly EtcdPeer[],
  due: readonly EtcdPeer[],
): Promise<ReadonlyMap<string, RestoreArchive>> {
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

/** Reader of a cluster in which nothing responds. */
const stoppedCluster: ClusterReader & Disposable = {
  members: async () => [],
  unconfirmedMembers: async () => [],
  etcdIds: async () => new Map(),
  readApiState: async () => undefined,
  etcdHealthy: async () => 'it is stopped',
  apiReady: async () => 'it is stopped',
  controllersReady: async () => 'it is stopped',
  nodesReady: async () => 'it is stopped',
  isVoter: async () => 'it is stopped',
  drainFindings: async () => [],
  removedApis: async () => [],
  [Symbol.dispose]: () => undefined,
}

interface CurrentEtcd {
  /** Members as reported by one member, without a quorum. */
  readonly members: readonly EtcdMember[]
  /** Key count of the member with the highest revision. */
  readonly current: KeyCount | undefined
}

/** Reads the member list and the key count from members that respond. */
async function readCurrentEtcd(etcd: EtcdClient, endpoints: readonly HostEndpoint[]): Promise<CurrentEtcd> {
  const options = { timeoutMs: 3000 }
  const counts = await Promise.all(
    endpoints.map(async ({ address }) =>
      etcd.countKeys(`https://${address}:2379`, options).catch(ignoreEtcdError),
    ),
  )
  const [current] = counts.flatMap((one) => one ?? []).toSorted((a, b) => b.revision - a.revision)
  const list =
    current === undefined
      ? undefined
      : await etcd.members({ ...options, unconfirmed: true }).catch(ignoreEtcdError)
  return { members: list?.members ?? [], current }
}
