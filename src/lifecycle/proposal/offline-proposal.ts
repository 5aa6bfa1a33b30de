import type { AddonInput } from '../../addons/desired-addons.ts'
import type { Facts } from '../../contract/facts.ts'
import { hasErrors } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { diffPlan } from '../../diff/diff.ts'
import { resourcesAfterApply } from '../../diff/plan-resources.ts'
import { readRoles } from '../../rollout/host.ts'
import type { LiveHosts, RemovedHost } from '../../rollout/input.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { noAddons, proposeAllAddons } from '../addons/proposal.ts'
import { buildAddonInput } from '../addons/propose-addons.ts'
import type { ClusterInputs } from '../inputs/cluster-inputs.ts'
import { checkPlannedFamilies } from './address-family-findings.ts'
import {
  composeProposal,
  emptyProposal,
  type HostsState,
  planFromInputs,
  planSteps,
  type Proposal,
} from './proposal.ts'

/** Plans that are assumed to be applied, by host. A host without a plan is assumed to be empty. */
export type PreviousPlans = ReadonlyMap<string, NodePlan>

/** Computes the changes from recorded facts and previous plans, without connecting to any host. */
export function buildOfflineProposal(
  inputs: ClusterInputs,
  facts: ReadonlyMap<string, Facts>,
  previous: PreviousPlans,
  { ignored, limited }: { readonly ignored: readonly string[]; readonly limited: boolean },
): Proposal {
  const { plans, findings } = planFromInputs(inputs, facts, ignored)
  if (hasErrors(findings)) return { ...emptyProposal, findings }
  const familyFindings = checkPlannedFamilies(inputs.cluster, previous.values())
  const state = assumeHostsState(inputs.cluster, plans, facts, previous)
  // Addons are left out if there are previous plans, because plans do not contain the state of addons. They
  // are also left out if the proposal is limited to some hosts.
  const addons =
    previous.size > 0 || limited ? noAddons : proposeAllAddons(buildOfflineAddonInput(inputs, facts))
  return composeProposal({
    ...emptyProposal,
    findings: [...findings, ...familyFindings],
    plans,
    ops: state.ops,
    rollout: planSteps(inputs.cluster, plans, state),
    upgradeFindings: [],
    ignored,
    addons,
  })
}

/** Derives the state of hosts from the plans that are assumed to be applied. */
function assumeHostsState(
  { spec }: Cluster,
  plans: readonly NodePlan[],
  facts: ReadonlyMap<string, Facts>,
  previous: PreviousPlans,
): HostsState {
  const names = spec.hosts.map(({ name }) => name)
  return {
    ops: new Map(plans.map((plan) => [plan.host, diffPlan(plan, listPresent(previous.get(plan.host)))])),
    live: readLiveRoles(previous),
    unreachable: names.filter((name) => !facts.has(name)),
    removedHosts: findRemovedHosts(previous, new Set(names)),
    currentKubelets: readKubeletVersions(previous),
  }
}

/** Omits the certificate of metrics-server, because nothing is applied. */
function buildOfflineAddonInput(inputs: ClusterInputs, facts: ReadonlyMap<string, Facts>): AddonInput {
  return { ...buildAddonInput(inputs, facts), metricsCertificate: undefined }
}

function listPresent(previous: NodePlan | undefined): ReturnType<typeof resourcesAfterApply> {
  return previous === undefined ? [] : resourcesAfterApply(previous)
}

/** Finds hosts that have a previous plan but are no longer in cluster.yml. */
function findRemovedHosts(previous: PreviousPlans, desiredHosts: ReadonlySet<string>): RemovedHost[] {
  return [...previous.values()]
    .filter(({ host }) => !desiredHosts.has(host))
    .map((plan): RemovedHost => ({ host: plan.host, reachable: true, live: readRoles(plan) }))
}

function readLiveRoles(previous: PreviousPlans): LiveHosts {
  const hostsWithComponent = (name: string): string[] =>
    [...previous.values()]
      .filter(({ components }) => components.some((component) => component.name === name))
      .map(({ host }) => host)
  return {
    etcd: hostsWithComponent('etcd'),
    controlPlanes: hostsWithComponent('kube-apiserver'),
    nodes: hostsWithComponent('kubelet'),
  }
}

function readKubeletVersions(previous: PreviousPlans): ReadonlyMap<string, string> {
  return new Map(
    [...previous.values()].flatMap(({ host, components }) => {
      const version = components.find(({ name }) => name === 'kubelet')?.version
      return version === undefined ? [] : [[host, version] as const]
    }),
  )
}
