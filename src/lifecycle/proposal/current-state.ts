import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { LiveHosts } from '../../rollout/input.ts'
import { isMemberOf, type KnownEtcdMember } from '../etcd/membership.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import type { HostToRemove } from './hosts-to-remove.ts'

export interface ClusterObservation {
  readonly plans: readonly NodePlan[]
  /** Ops to do, by host name. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  /** All hosts, including unreachable ones without a plan. */
  readonly endpoints: readonly HostEndpoint[]
  readonly members: readonly KnownEtcdMember[]
  /** Hosts whose etcd data was restored and whose etcd has not been started after the restore. */
  readonly restored?: readonly string[]
  /** Nodes that the API lists; empty if the API is unreachable. */
  readonly nodes: readonly string[]
  /** Hosts of the cluster that cluster.yml does not name any more. */
  readonly hostsToRemove: readonly HostToRemove[]
}

/**
 * Determines which hosts are already part of the cluster. For etcd only the member list counts, because a
 * listed member may not have started yet. A running etcd may also have been removed from the list. For other
 * components the installed services count. On an unreachable host they cannot be read, so its node counts
 * instead: the kubelet is installed last.
 */
export function deriveCurrentState({
  plans,
  ops,
  endpoints,
  members,
  restored = [],
  nodes,
  hostsToRemove,
}: ClusterObservation): LiveHosts {
  const planned = new Set(plans.map(({ host }) => host))
  const unreachable = endpoints.filter(({ host }) => !planned.has(host))
  const known = new Set(nodes)
  const registered = unreachable.filter(({ node }) => node !== undefined && known.has(node))
  const hostsWith = (service: string): string[] =>
    toHostNames(plans.filter((plan) => isInstalled(plan, ops.get(plan.host), service)))
  const voters = members.filter(({ learner }) => !learner)
  return {
    etcd: toHostNames(
      [...plans, ...unreachable, ...hostsToRemove].filter(({ host, address }) =>
        voters.some(isMemberOf({ name: host, address })),
      ),
    ),
    etcdInstalled: [...new Set([...hostsWith('etcd.service'), ...restored])],
    controlPlanes: [
      ...hostsWith('kube-apiserver.service'),
      ...toHostNames(registered.filter(({ api }) => api)),
    ],
    nodes: [...hostsWith('kubelet.service'), ...toHostNames(registered)],
  }
}

function toHostNames(hosts: readonly { readonly host: string }[]): string[] {
  return hosts.map(({ host }) => host)
}

/**
 * True if the service is in the plan and already exists on the host, or if the host runs what the service
 * replaces. Such a host of an adopted cluster is no new host.
 */
function isInstalled({ components }: NodePlan, ops: readonly Op[] | undefined, name: string): boolean {
  const component = components.find(({ service }) => service?.name === name)
  const isNew =
    ops?.some((op) => op.target === 'service' && op.name === name && op.action === 'create') ?? true
  return component !== undefined && (!isNew || isReplacement(component, components))
}

/** True if the component replaces something that still runs. Docker runs all that the services of a node replace. */
function isReplacement({ stage, replaces }: ComponentPlan, components: readonly ComponentPlan[]): boolean {
  const runsInDocker =
    stage === 'node' && components.some((one) => one.replaces?.kind === 'docker' && one.replaces.kept)
  return replaces?.kept === true || runsInDocker
}
