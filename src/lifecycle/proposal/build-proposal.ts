import { createIgnoreFilter, type Finding, hasErrors } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { RolloutStep } from '../../rollout/step.ts'
import { type Cluster, isWorkerHost, readWorkersVersion } from '../../spec/cluster.ts'
import { type AddonProposal, type AddonProposalInput, noAddons } from '../addons/proposal.ts'
import { buildAddonInput, proposeNewAddons } from '../addons/propose-addons.ts'
import type { Session } from '../agents/session.ts'
import type { ApiState, ClusterClient } from '../cluster-client/cluster-client.ts'
import {
  type ClusterObjectChange,
  findNodeChanges,
  findSmokeTestChanges,
} from '../cluster-objects/changes.ts'
import type { Node } from '../cluster-objects/node.ts'
import { checkEtcdSplitBrain, checkLostQuorum } from '../etcd/etcd-findings.ts'
import type { ClusterInputs } from '../inputs/cluster-inputs.ts'
import { listClusterEndpoints, listCurrentEndpoints } from '../inputs/host-endpoints.ts'
import { checkVirtualIpInUse } from '../preflight/check-virtual-ip.ts'
import { findNewHosts, listPeers } from '../preflight/required-connections.ts'
import { runPreflight } from '../preflight/preflight.ts'
import { checkChangedAddresses } from './address-findings.ts'
import { checkAdoptedCluster } from './adoption-findings.ts'
import { deriveCurrentState } from './current-state.ts'
import { checkIdentityAge } from './identity-findings.ts'
import { findHostsToRemove, type HostToRemove, toRemovedHost } from './hosts-to-remove.ts'
import { composeProposal, emptyProposal, planFromInputs, planSteps, type Proposal } from './proposal.ts'
import { readDiffs, readHostFacts, readRemovalOps } from './read-hosts.ts'
import { checkAddressFamilies } from './address-family-findings.ts'
import { checkVersionChange, isMinorChange } from './version-findings.ts'

export interface ProposalOptions {
  /** Codes of findings that the operator chose to ignore. */
  readonly ignored: readonly string[]
  /**
   * Names of the hosts to change; undefined means all hosts. All hosts are observed anyway, because a change
   * of one host may depend on the others.
   */
  readonly limit?: ReadonlySet<string> | undefined
  /** True to request the current contents of files that would change. */
  readonly fileContents?: boolean
  /** True to renew all certificates, including those that are not due. */
  readonly renew?: boolean
  /** Hosts whose etcd data was restored and whose etcd has not been started after the restore. */
  readonly restored?: readonly string[]
  /** True for `adopt commit`, which requires that all hosts have moved. */
  readonly commits?: boolean
  /** Predicts the ops that a host will have when the proposal is executed, for example after a restore. */
  readonly expected?: ((plan: NodePlan, ops: readonly Op[]) => readonly Op[]) | undefined
  /** Connects to hosts that must be removed. Returns the sessions of the reachable ones. */
  readonly connectRemoved: (hostsToRemove: readonly HostToRemove[]) => Promise<ReadonlyMap<string, Session>>
}

/** Functions of the client that read the cluster for a proposal. */
export type ProposalClient = Disposable &
  Pick<
    ClusterClient,
    'members' | 'unconfirmedMembers' | 'etcdIds' | 'readApiState' | 'drainFindings' | 'findUpgradeProblems'
  >

/** Observes every host and computes what would be done. Changes nothing. */
export async function buildProposal(
  inputs: ClusterInputs,
  sessions: ReadonlyMap<string, Session>,
  openClient: (plans: readonly NodePlan[]) => Promise<ProposalClient>,
  {
    ignored,
    limit,
    fileContents = false,
    renew = false,
    restored = [],
    commits = false,
    expected,
    connectRemoved,
  }: ProposalOptions,
): Promise<Proposal> {
  const facts = await readHostFacts(sessions)
  const { plans, findings } = planFromInputs(inputs, facts, ignored)
  if (hasErrors(findings)) return { ...emptyProposal, findings }
  const addonInput = limit === undefined ? buildAddonInput(inputs, facts) : undefined
  using client = await openClient(plans)
  const [diffs, members, ids, apiState] = await Promise.all([
    readDiffs(plans, sessions, { fileContents, renew }, expected),
    client.members(),
    client.etcdIds(),
    client.readApiState(addonInput),
  ])
  const splitBrain = checkEtcdSplitBrain(ids)
  const stuck =
    splitBrain.length > 0 || members.length > 0
      ? splitBrain
      : checkLostQuorum(await client.unconfirmedMembers(), plans)
  if (stuck.length > 0) return { ...emptyProposal, findings: [...findings, ...stuck] }
  const ops = new Map([...diffs].map(([host, { ops: own }]) => [host, (limit?.has(host) ?? true) ? own : []]))
  const drift = [...diffs.values()].flatMap((diff) => diff.findings)
  // Preflight makes agents listen on etcd ports, so it runs after etcd has been observed.
  const preflightFindings = await runPreflight(sessions, listPeers(inputs.cluster, facts), {
    newHosts: findNewHosts(ops),
    now: () => new Date(),
  })
  const virtualIpFindings = await checkVirtualIpInUse(sessions, { cluster: inputs.cluster, facts, ops })
  const { cluster } = inputs
  const nodes = apiState?.nodes ?? []
  const endpoints = listCurrentEndpoints(cluster, plans)
  // With a limit only the named hosts are changed, so no host is removed.
  const hostsToRemove = limit === undefined ? findHostsToRemove(endpoints, members, nodes) : []
  const removedSessions =
    hostsToRemove.length === 0 ? new Map<string, Session>() : await connectRemoved(hostsToRemove)
  const rollout = planSteps(cluster, plans, {
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
    currentKubelets: readKubeletVersions(plans, nodes),
  })
  const upgradeFindings =
    apiState === undefined ? [] : await predictFindings(client, cluster, apiState, rollout.steps)
  const addressFindings = checkChangedAddresses(cluster, plans, apiState?.objects ?? [])
  const identityFindings = await checkIdentityAge(inputs.identity, plans, diffs, sessions)
  const observed = [
    ...identityFindings,
    ...addressFindings,
    ...preflightFindings,
    ...virtualIpFindings,
    ...drift,
  ]
  return composeProposal({
    findings: [
      ...findings,
      // This finding cannot be ignored, because nodes keep their pod networks.
      ...checkAddressFamilies(cluster, nodes),
      // Neither can these, because such changes make the rollback of an adopted cluster impossible.
      ...checkAdoptedCluster({
        identity: inputs.identity,
        ops: new Map([...diffs].map(([host, diff]) => [host, diff.ops])),
        removed: hostsToRemove.map(({ host }) => host),
        desiredVersion: cluster.spec.kubernetes,
        versions: apiState?.versions ?? [],
        commits,
      }),
      ...observed.filter(createIgnoreFilter(ignored)),
    ],
    plans,
    ops: new Map([...ops, ...(await readRemovalOps(inputs.identity, removedSessions))]),
    fileContents: new Map(
      [...diffs].map(([host, diff]) => [host, new Map(Object.entries(diff.fileContents ?? {}))]),
    ),
    rollout,
    upgradeFindings,
    ignored,
    hostsToRemove,
    clusterChanges: apiState === undefined ? [] : findClusterChanges(plans, apiState),
    addons: apiState?.addons ?? (await proposeAddonsOfNewCluster(inputs, addonInput)),
    renew,
  })
}

function findClusterChanges(plans: readonly NodePlan[], apiState: ApiState): ClusterObjectChange[] {
  return [
    ...apiState.objects,
    ...findNodeChanges(plans, apiState.nodes),
    ...findSmokeTestChanges(plans, apiState.smokeTestNodes),
  ]
}

async function proposeAddonsOfNewCluster(
  { identity }: ClusterInputs,
  addonInput: AddonProposalInput | undefined,
): Promise<AddonProposal> {
  return addonInput === undefined ? noAddons : proposeNewAddons(addonInput, { identity, now: new Date() })
}

/** Returns findings about version changes, removed APIs and pods that must move. */
async function predictFindings(
  client: ProposalClient,
  cluster: Cluster,
  { nodes, versions }: ApiState,
  steps: readonly RolloutStep[],
): Promise<readonly Finding[]> {
  const { spec } = cluster
  const kubelets = nodes.flatMap(({ metadata, status }) => {
    const version = status?.nodeInfo?.kubeletVersion.replace(/^v/, '')
    return version === undefined ? [] : [[metadata.name, version] as const]
  })
  const running = { servers: versions, kubelets: new Map(kubelets) }
  const drained = steps.filter(({ drain }) => drain).flatMap(({ hosts }) => hosts)
  const [removed, drains] = await Promise.all([
    isMinorChange(spec.kubernetes, running) ? client.findUpgradeProblems(spec.kubernetes) : [],
    client.drainFindings(drained),
  ])
  const workers = {
    version: readWorkersVersion(cluster),
    nodes: spec.hosts.filter(isWorkerHost).map(({ name, nodeName }) => nodeName ?? name),
  }
  return [...checkVersionChange(spec.kubernetes, running, workers), ...removed, ...drains]
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
