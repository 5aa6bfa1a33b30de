import { listHostIndependentAddons } from '../addons/host-independent.ts'
import { listAddonImages } from '../addons/desired-addons.ts'
import { findKubernetesRelease } from '../catalog/catalog.ts'
import { pinnedImages } from '../catalog/lock.ts'
import type { Facts } from '../contract/facts.ts'
import { type Finding, hasErrors, createIgnoreFilter } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { toPublicIdentity } from '../identity/public-identity.ts'
import { settleAll } from '../kit/settle-all.ts'
import { planCluster, type PlanResult } from '../plan/plan.ts'
import { planRollout } from '../rollout/rollout.ts'
import type { RolloutStep } from '../rollout/step.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { AgentResponseBody } from './agent-link.ts'
import { buildAddonInput, proposeNewAddons } from './addons/propose-addons.ts'
import { type AddonProposal, isFeasible, noAddons } from './addons/proposal.ts'
import { readRemovalOps } from './removal-ops.ts'
import { type ClusterObjectChange, findNodeChanges, findSmokeTestChanges } from './cluster-objects/changes.ts'
import type { Node } from './cluster-objects/node.ts'
import { type HostToRemove, findHostsToRemove, toRemovedHost } from './hosts-to-remove.ts'
import { deriveCurrentState } from './current-state.ts'
import { checkLostQuorum } from './lost-quorum.ts'
import { checkEtcdSplitBrain } from './etcd-split-brain.ts'
import { listClusterEndpoints, listCurrentEndpoints, listDesiredRoles } from './host-endpoints.ts'
import { findNewHosts } from './network-preflight/new-hosts.ts'
import { listPeers } from './network-preflight/peer.ts'
import { runPreflight } from './preflight.ts'
import type { ApiState, ClusterReader } from './cluster-access.ts'
import type { Session } from './session.ts'
import { isMinorChange, checkVersionChange } from './upgrade/version-findings.ts'
import { type ClusterInputs, collectSecrets } from './cluster-inputs.ts'

/** All planned changes of a cluster: ops by host, rollout steps in order, cluster objects and addons. */
export interface Proposal {
  readonly findings: readonly Finding[]
  readonly plans: readonly NodePlan[]
  /** Ops by host name, including hosts to remove. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  /**
   * Current contents of the files and units that would change, by host name and file name. Read only on
   * request.
   */
  readonly fileContents?: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly steps: readonly RolloutStep[]
  /** Hosts that are still part of the cluster although cluster.yml no longer contains them. */
  readonly hostsToRemove: readonly HostToRemove[]
  /** Changes to cluster objects, independent of hosts. */
  readonly clusterChanges: readonly ClusterObjectChange[]
  readonly addons: AddonProposal
  /** True if all certificates of changed hosts get new keys. */
  readonly renew?: boolean
}

/** A proposal without changes. */
export const emptyProposal: Proposal = {
  findings: [],
  plans: [],
  ops: new Map(),
  steps: [],
  hostsToRemove: [],
  clusterChanges: [],
  addons: noAddons,
}

/** True if the proposal contains any change. */
export function hasChanges({ steps, clusterChanges, addons }: Proposal): boolean {
  return steps.length > 0 || clusterChanges.length > 0 || addons.differences.some(isFeasible)
}

export function planFromInputs(
  inputs: ClusterInputs,
  facts: ReadonlyMap<string, Facts>,
  ignored: readonly string[],
): PlanResult {
  const { cluster, lock, identity, attachments, sources, version } = inputs
  const release = findKubernetesRelease(cluster.spec.kubernetes)
  const images = pinnedImages(lock, release)
  const input = {
    cluster,
    release,
    lock,
    images: listAddonImages(cluster, images),
    addons: listHostIndependentAddons({ cluster, images, sources }),
    identity: toPublicIdentity(identity, collectSecrets(inputs)),
    facts,
    attachments,
    version,
  }
  return planCluster(input, ignored)
}

/**
 * Filters rollout findings by the codes that the operator ignores. Rollout errors stay, because each of them
 * would harm the cluster.
 */
export function filterRolloutFindings(findings: readonly Finding[], ignored: readonly string[]): Finding[] {
  return findings.filter(createIgnoreFilter(ignored, () => true))
}

export interface ProposalOptions {
  /** Codes of findings that the operator chose to ignore. */
  readonly ignored: readonly string[]
  /**
   * Names of the only hosts to change. All hosts are observed anyway, because a change of one host may depend
   * on the others.
   */
  readonly limit?: ReadonlySet<string> | undefined
  /** True to request the contents of files that would change. */
  readonly fileContents?: boolean
  /** True to renew all certificates, including those that are not due. */
  readonly renew?: boolean
  /** Hosts whose etcd data was restored but whose etcd has not started since. */
  readonly restored?: readonly string[]
  /** Predicts the ops that a host will have when the proposal is executed, for example after a restore. */
  readonly expected?: ((plan: NodePlan, ops: readonly Op[]) => readonly Op[]) | undefined
  /** Connects to hosts that must be removed. Returns the sessions of the reachable ones. */
  readonly connectRemoved: (hostsToRemove: readonly HostToRemove[]) => Promise<ReadonlyMap<string, Session>>
}

type HostDiff = Extract<AgentResponseBody, { type: 'diff' }>

/** Observes every host and computes what would be done. Changes nothing. */
export async function buildProposal(
  inputs: ClusterInputs,
  sessions: ReadonlyMap<string, Session>,
  openReader: (plans: readonly NodePlan[]) => Promise<ClusterReader & Disposable>,
  {
    ignored,
    limit,
    fileContents = false,
    renew = false,
    restored = [],
    expected,
    connectRemoved,
  }: ProposalOptions,
): Promise<Proposal> {
  const facts = await readHostFacts(sessions)
  const { plans, findings } = planFromInputs(inputs, facts, ignored)
  if (hasErrors(findings)) return { ...emptyProposal, findings }
  const addonInput = limit === undefined ? buildAddonInput(inputs, facts) : undefined
  using reader = await openReader(plans)
  const [diffs, members, ids, apiState] = await Promise.all([
    readDiffs(plans, sessions, { fileContents, renew }, expected),
    reader.members(),
    reader.etcdIds(),
    reader.readApiState(addonInput),
  ])
  const splitBrain = checkEtcdSplitBrain(ids)
  const stuck =
    splitBrain.length > 0 || members.length > 0
      ? splitBrain
      : checkLostQuorum(await reader.unconfirmedMembers(), plans)
  if (stuck.length > 0) return { ...emptyProposal, findings: [...findings, ...stuck] }
  const ops = new Map([...diffs].map(([host, { ops: own }]) => [host, (limit?.has(host) ?? true) ? own : []]))
  const drift = [...diffs.values()].flatMap((diff) => diff.findings)
  // Preflight opens listeners on etcd ports, so it runs after etcd was observed there.
  const preflightFindings = await runPreflight(sessions, listPeers(inputs.cluster, facts), {
    newHosts: findNewHosts(ops),
    now: () => new Date(),
  })
  const { cluster } = inputs
  const nodes = apiState?.nodes ?? []
  const endpoints = listCurrentEndpoints(cluster, plans)
  // With a limit only the named hosts are changed, so no host is removed.
  const hostsToRemove = limit === undefined ? findHostsToRemove(endpoints, members, nodes) : []
  const removedSessions =
    hostsToRemove.length === 0 ? new Map<string, Session>() : await connectRemoved(hostsToRemove)
  const rolled = planRollout({
    plans,
    ops,
    live: deriveCurrentState({
      plans,
      ops: new Map([...diffs].map(([host, { ops: own }]) => [host, own])),
      endpoints: listClusterEndpoints(cluster),
      members,
      restored,
      nodes: nodes.map(({ metadata }) => metadata.name),
      hostsToRemove,
    }),
    removedHosts: hostsToRemove.map((removed) => toRemovedHost(removed, removedSessions.has(removed.host))),
    unreachable: cluster.spec.hosts.map(({ name }) => name).filter((name) => !sessions.has(name)),
    desiredRoles: listDesiredRoles(cluster),
    maxUnavailable: cluster.spec.rollout.maxUnavailable,
    currentKubelets: readKubeletVersions(plans, nodes),
  })
  const upgradeFindings =
    apiState === undefined ? [] : await predictFindings(reader, cluster, apiState, rolled.steps)
  const addons =
    apiState?.addons ??
    (addonInput === undefined
      ? noAddons
      : await proposeNewAddons(addonInput, { identity: inputs.identity, now: new Date() }))
  const more = [...preflightFindings, ...drift, ...rolled.findings, ...upgradeFindings, ...addons.findings]
  const all = [...findings, ...more.filter(createIgnoreFilter(ignored))]
  const failed = hasErrors(all)
  const clusterChanges =
    failed || apiState === undefined
      ? []
      : [
          ...apiState.objects,
          ...findNodeChanges(plans, apiState.nodes),
          ...findSmokeTestChanges(plans, apiState.smokeTestNodes),
        ]
  return {
    findings: all,
    plans,
    ops: new Map([...ops, ...(await readRemovalOps(inputs.identity, removedSessions))]),
    fileContents: new Map(
      [...diffs].map(([host, diff]) => [host, new Map(Object.entries(diff.fileContents ?? {}))]),
    ),
    steps: failed ? [] : rolled.steps,
    hostsToRemove,
    clusterChanges,
    addons: failed ? noAddons : addons,
    renew,
  }
}

/** Returns findings about version changes, removed APIs and pods that must move. */
async function predictFindings(
  reader: ClusterReader,
  { spec }: Cluster,
  { nodes, versions }: ApiState,
  steps: readonly RolloutStep[],
): Promise<readonly Finding[]> {
  const kubelets = nodes.flatMap(({ metadata, status }) => {
    const version = status?.nodeInfo?.kubeletVersion.replace(/^v/, '')
    return version === undefined ? [] : [[metadata.name, version] as const]
  })
  const running = { servers: versions, kubelets: new Map(kubelets) }
  const drained = steps.filter(({ drain }) => drain).flatMap(({ hosts }) => hosts)
  const [removed, drains] = await Promise.all([
    isMinorChange(spec.kubernetes, running) ? reader.removedApis(spec.kubernetes) : [],
    reader.drainFindings(drained),
  ])
  return [...checkVersionChange(spec.kubernetes, running), ...removed, ...drains]
}

/** Current kubelet versions by host name. */
function readKubeletVersions(
  plans: readonly NodePlan[],
  nodes: readonly Node[],
): ReadonlyMap<string, string> {
  const versions = new Map(
    nodes.map(({ metadata, status }) => [metadata.name, status?.nodeInfo?.kubeletVersion]),
  )
  return new Map(
    plans.flatMap(({ host, node }) => {
      const version = versions.get(node?.name ?? '')
      return version === undefined ? [] : [[host, version] as const]
    }),
  )
}

/** Facts of every host by name. */
export async function readHostFacts(
  sessions: ReadonlyMap<string, Session>,
): Promise<ReadonlyMap<string, Facts>> {
  const all = await settleAll(
    [...sessions].map(async ([host, session]) => {
      const { facts } = await session.request({ type: 'facts', host }, 'facts')
      return [host, facts] as const
    }),
  )
  return new Map(all)
}

async function readDiffs(
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
  options: { readonly fileContents: boolean; readonly renew: boolean },
  expected: ProposalOptions['expected'] = (_, ops) => ops,
): Promise<ReadonlyMap<string, HostDiff>> {
  const readDiff = async (plan: NodePlan, session: Session): Promise<readonly [string, HostDiff]> => {
    const diffs = await session.request({ type: 'diff', plan, ...options }, 'diff')
    return [plan.host, { ...diffs, ops: [...expected(plan, diffs.ops)] }]
  }
  const all = await settleAll(
    plans.flatMap((plan) => {
      const session = sessions.get(plan.host)
      return session === undefined ? [] : [readDiff(plan, session)]
    }),
  )
  return new Map(all)
}
