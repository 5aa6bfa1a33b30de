import type { NodePlan } from '../../contract/node-plan.ts'
import { formatSshCommand } from '../../plan/checks/presence.ts'
import { readInternalAddress } from '../../plan/topology.ts'
import type { HostRoles } from '../../rollout/input.ts'
import { type Cluster, etcdHosts } from '../../spec/cluster.ts'
import { usesKubeProxy, usesKubeRouter } from '../../spec/network.ts'

/** A host with its roles and the address at which its components are reached. */
export interface HostEndpoint {
  readonly host: string
  /** Address for the other hosts; undefined if cluster.yml does not have it, and the facts are not known. */
  readonly address: string | undefined
  readonly etcd: boolean
  readonly api: boolean
  /** True if the host runs the hyperkube controller manager, otherwise undefined. */
  readonly manager?: true
  /** True if the host runs keepalived for the virtual IP of the API, otherwise undefined. */
  readonly virtualIP?: true
  /**
   * True if the host runs flanneld, otherwise undefined. With `network.plugin: none` no host runs flanneld.
   */
  readonly flannel?: true
  /** True if the host runs kube-router, which enforces NetworkPolicy, otherwise undefined. */
  readonly kubeRouter?: true
  /** True if the host is a node without kube-proxy, otherwise undefined. */
  readonly withoutKubeProxy?: true
  /** Addon that installs the pod network of this node; undefined if hyperkube or the user installs it. */
  readonly networkAddon?: string
  /** Node name; undefined if the host is not a node. */
  readonly node: string | undefined
  /** Command that logs in to the host; undefined if unknown, or if the host is the operator's machine. */
  readonly sshCommand?: string
  /** Undefined if the host runs Linux. */
  readonly os?: 'windows'
}

/** An endpoint of a reachable host, whose address is known. */
export interface PlannedEndpoint extends HostEndpoint {
  readonly address: string
}

export function listPlannedEndpoints(plans: readonly NodePlan[]): PlannedEndpoint[] {
  return plans.map(({ host, address, os, components, node }) => {
    const has = (name: string): boolean => components.some((component) => component.name === name)
    return {
      host,
      address,
      etcd: has('etcd'),
      api: has('kube-apiserver'),
      ...(has('hyperkube-controller-manager') ? { manager: true } : {}),
      ...(has('hyperkube-keepalived') ? { virtualIP: true } : {}),
      ...(has('flanneld') ? { flannel: true } : {}),
      ...(has('kube-router') ? { kubeRouter: true } : {}),
      ...(node !== undefined && !has('kube-proxy') ? { withoutKubeProxy: true } : {}),
      node: node?.name,
      ...osFields(os),
    }
  })
}

/** Derives endpoints from cluster.yml alone, without facts of hosts. */
export function listClusterEndpoints(cluster: Cluster): HostEndpoint[] {
  const members = new Set(etcdHosts(cluster).map(({ name }) => name))
  const { api, manager, network, hosts } = cluster.spec
  return hosts.map((host) => {
    const isControlPlane = host.roles.includes('control-plane')
    const isNode = host.roles.some((role) => role !== 'etcd')
    return {
      host: host.name,
      address: readInternalAddress(host),
      etcd: members.has(host.name),
      api: isControlPlane,
      ...(isControlPlane && manager !== 'none' ? { manager: true } : {}),
      ...(isControlPlane && api.virtualIP !== undefined ? { virtualIP: true } : {}),
      ...(isNode && network.plugin === 'flannel' ? { flannel: true } : {}),
      ...(isNode && host.os === 'linux' && usesKubeRouter(network) ? { kubeRouter: true } : {}),
      ...(isNode && !usesKubeProxy(network) ? { withoutKubeProxy: true } : {}),
      ...(isNode && network.addon !== undefined ? { networkAddon: network.addon } : {}),
      node: isNode ? (host.nodeName ?? host.name) : undefined,
      ...osFields(host.os),
    }
  })
}

/** Lists the endpoints of cluster.yml with the commands that an operator runs to log in. */
export function listLoginEndpoints(cluster: Cluster): HostEndpoint[] {
  const specs = new Map(cluster.spec.hosts.map((host) => [host.name, host]))
  return listClusterEndpoints(cluster).map((endpoint) => {
    const host = specs.get(endpoint.host)
    return host === undefined || host.local
      ? endpoint
      : { ...endpoint, sshCommand: formatSshCommand(host, cluster.spec.ssh) }
  })
}

function osFields(os: NodePlan['os']): Pick<HostEndpoint, 'os'> {
  return os === 'windows' ? { os } : {}
}

/** Lists all endpoints: from the plans of reachable hosts, and from cluster.yml for other hosts. */
export function listCurrentEndpoints(cluster: Cluster, plans: readonly NodePlan[]): HostEndpoint[] {
  const known = new Map(listPlannedEndpoints(plans).map((endpoint) => [endpoint.host, endpoint]))
  return listClusterEndpoints(cluster).map((endpoint) => known.get(endpoint.host) ?? endpoint)
}

/** Desired roles of all hosts by name, including hosts without a plan. */
export function listDesiredRoles(cluster: Cluster): ReadonlyMap<string, HostRoles> {
  return new Map(listClusterEndpoints(cluster).map((endpoint) => [endpoint.host, toHostRoles(endpoint)]))
}

export function toHostRoles({ etcd, api, node }: HostEndpoint): HostRoles {
  return { member: etcd, controlPlane: api, node: node !== undefined }
}
