import { formatHostPort } from '../../kit/host-port.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { AdoptionSource } from '../../identity/identity.ts'
import { selectApiEndpoint } from '../../spec/api.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import { buildControlPlaneArgs, type ControlPlaneArgs } from './control-plane-args.ts'
import type { StaticPodComponent } from './layout.ts'
import { findPlannedComponent } from './service-args.ts'

/** What is written: the plans of all hosts, and the public part of the identity. */
export interface EjectInput {
  readonly cluster: Cluster
  readonly plans: readonly NodePlan[]
  /** CA certificates as PEM. */
  readonly cas: { readonly kubernetes: string; readonly etcd: string; readonly frontProxy: string }
  /** Public key of service account tokens as PEM. */
  readonly serviceAccountKey: string
  /** Tool that created the cluster, if not hyperkube. Its objects can still be in the cluster. */
  readonly adoptedFrom?: AdoptionSource | undefined
}

/** True if the kube-proxy of kubeadm has stayed in an adopted cluster. The pod networks that are adopted need it. */
export function keepsKubeadmProxy({ adoptedFrom, cluster }: EjectInput): boolean {
  return adoptedFrom === 'kubeadm' && !usesKubeProxy(cluster.spec.network)
}

/** True if the CoreDNS of kubeadm has stayed in an adopted cluster. */
export function keepsKubeadmDns({ adoptedFrom, cluster }: EjectInput): boolean {
  return adoptedFrom === 'kubeadm' && cluster.spec.dns === 'none'
}

const registry = 'registry.k8s.io'

export function isControlPlanePlan({ roles }: NodePlan): boolean {
  return roles.includes('control-plane')
}

/** Returns the address of the API for all nodes, as HOST:PORT. Undefined if no address reaches every server. */
export function selectControlPlaneEndpoint({ cluster, plans }: EjectInput): string | undefined {
  const { api } = cluster.spec
  const [first, ...others] = plans.filter(isControlPlanePlan)
  const own = first === undefined || others.length > 0 ? undefined : formatHostPort(first.address, api.port)
  return selectApiEndpoint(api) ?? own
}

/** Returns the Kubernetes version of a host with a leading v. */
export function readVersion(plan: NodePlan, component: string): string {
  return `v${findPlannedComponent(plan, component)?.version ?? ''}`
}

/** Tag of the etcd image of kubeadm. */
export function formatEtcdTag(plan: NodePlan): string {
  return `${findPlannedComponent(plan, 'etcd')?.version ?? ''}-0`
}

export function formatImage(plan: NodePlan, component: StaticPodComponent | 'kube-proxy'): string {
  return component === 'etcd'
    ? `${registry}/etcd:${formatEtcdTag(plan)}`
    : `${registry}/${component}:${readVersion(plan, component)}`
}

/** Builds the flags of a static pod. Members of etcd also get the list of all members. */
export function buildPodArgs(
  { cluster, plans }: EjectInput,
  plan: NodePlan,
  component: StaticPodComponent,
): ControlPlaneArgs {
  const args = buildControlPlaneArgs(cluster, plan, component)
  if (component !== 'etcd') return args
  const members = plans
    .filter((one) => findPlannedComponent(one, 'etcd') !== undefined)
    .map(({ node, host, address }) => `${node?.name ?? host}=https://${formatHostPort(address, 2380)}`)
  // The member has data. Without its data it must not begin a new cluster.
  const initial = { 'initial-cluster': members.join(','), 'initial-cluster-state': 'existing' }
  return { ...args, all: { ...args.all, ...initial } }
}
