import type { AddonInput } from '../../addons/desired-addons.ts'
import type { Facts } from '../../contract/facts.ts'
import { hasErrors, createIgnoreFilter } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { diffPlan } from '../../diff/diff.ts'
import { resourcesAfterApply } from '../../diff/plan-resources.ts'
import { buildAddonInput } from '../../lifecycle/addons/propose-addons.ts'
import { proposeAllAddons, noAddons } from '../../lifecycle/addons/proposal.ts'
import { listDesiredRoles } from '../../lifecycle/host-endpoints.ts'
import {
  emptyProposal,
  filterRolloutFindings,
  planFromInputs,
  type Proposal,
} from '../../lifecycle/build-proposal.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import { readRoles } from '../../rollout/host.ts'
import type { RemovedHost, LiveHosts } from '../../rollout/input.ts'
import { planRollout } from '../../rollout/rollout.ts'

/** Plans that are assumed to be applied, by host. A host without a plan is assumed to be empty. */
export type PreviousPlans = ReadonlyMap<string, NodePlan>

/** Computes the changes from recorded data, without connecting to any host. */
export function proposeOffline(
  inputs: ClusterInputs,
  facts: ReadonlyMap<string, Facts>,
  previous: PreviousPlans,
  { ignored, limited }: { readonly ignored: readonly string[]; readonly limited: boolean },
): Proposal {
  const { plans, findings } = planFromInputs(inputs, facts, ignored)
  if (hasErrors(findings)) return { ...emptyProposal, findings }
  const ops = new Map(plans.map((plan) => [plan.host, diffPlan(plan, listPresent(previous.get(plan.host)))]))
  const { spec } = inputs.cluster
  const rolloutResult = planRollout({
    plans,
    ops,
    live: readLiveRoles(previous),
    unreachable: spec.hosts.map(({ name }) => name).filter((name) => !facts.has(name)),
    removedHosts: findRemovedHosts(previous, new Set(spec.hosts.map(({ name }) => name))),
    desiredRoles: listDesiredRoles(inputs.cluster),
    maxUnavailable: spec.rollout.maxUnavailable,
    currentKubelets: readKubeletVersions(previous),
  })
  // Previous plans do not contain the state of addons, and a limit to hosts excludes addons.
  const addons =
    previous.size > 0 || limited ? noAddons : proposeAllAddons(buildOfflineAddonInput(inputs, facts))
  const all = [
    ...findings,
    ...filterRolloutFindings(rolloutResult.findings, ignored),
    ...addons.findings.filter(createIgnoreFilter(ignored)),
  ]
  return { ...emptyProposal, findings: all, plans, ops, steps: rolloutResult.steps, addons }
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
