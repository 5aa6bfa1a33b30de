import { isIPv4 } from 'node:net'
import type { HostRole, HostSpec } from '../../spec/host.ts'
import { labelKey, labelValue } from '../../spec/scalars.ts'
import { type AdoptedHost, type AdoptionObservation, findComponent, findNode } from './observation.ts'

/** Lists the kubelet versions of hosts that only run pods. */
export function listWorkerVersions(observation: AdoptionObservation): readonly string[] {
  const workers = observation.hosts.filter((host) => findComponent(host, 'kube-apiserver') === undefined)
  return [...new Set(workers.flatMap((host) => findNode(observation, host)?.kubelet ?? []))]
}

/** Names the hosts by their nodes. Names in cluster.yml have no dots. */
export function nameHosts({ hosts }: Pick<AdoptionObservation, 'hosts'>): readonly string[] {
  const taken = new Set<string>()
  return hosts.map(({ nodeName }) => {
    const label =
      nodeName
        .replaceAll(/[^a-z0-9-]/g, '-')
        .slice(0, 60)
        .replaceAll(/^-+|-+$/g, '') || 'host'
    let name = label
    for (let count = 2; taken.has(name); count += 1) name = `${label}-${count}`
    taken.add(name)
    return name
  })
}

/** Describes a host with its connection settings. */
export function describeHost(
  observation: AdoptionObservation,
  host: AdoptedHost,
  name: string,
  ssh: HostSpec['ssh'],
): object {
  const node = findNode(observation, host)
  const [internal, internalV6] = listInternalAddresses(observation, host)
  const roles = listRoles(observation, host)
  const taints = listTaints(observation, host, roles)
  const labels = listLabels(node?.labels ?? {})
  return {
    name,
    address: host.address,
    ...(internal === undefined || internal === host.address ? {} : { internalAddress: internal }),
    ...(internalV6 === undefined ? {} : { internalAddressIPv6: internalV6 }),
    ...(host.nodeName === name ? {} : { nodeName: host.nodeName }),
    roles,
    ...(ssh === undefined || Object.keys(ssh).length === 0 ? {} : { ssh }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(taints === undefined ? {} : { taints }),
  }
}

/** Lists the addresses at which other hosts reach a host: with dual-stack also that of IPv6. */
export function listInternalAddresses(
  observation: Pick<AdoptionObservation, 'api'>,
  host: Pick<AdoptedHost, 'nodeName'>,
): readonly string[] {
  const node = findNode(observation, host)
  const internal = node?.addresses.find((address) => isIPv4(address)) ?? node?.addresses[0]
  const isDualStack = (node?.podCidrs.length ?? 0) > 1
  const internalV6 = isDualStack ? node?.addresses.find((address) => !isIPv4(address)) : undefined
  return [internal, internalV6].filter((address) => address !== undefined)
}

const controlPlaneTaints = new Set([
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/controlplane',
  'node-role.kubernetes.io/master',
])

/**
 * Lists the roles of a host according to the components that run there. RKE1 runs a kubelet also on hosts of etcd, so
 * these stay nodes, with their taints.
 */
export function listRoles(observation: AdoptionObservation, host: AdoptedHost): HostRole[] {
  const isControlPlane = findComponent(host, 'kube-apiserver') !== undefined
  const isMember = findComponent(host, 'etcd') !== undefined
  const runsOnControlPlanes = observation.hosts.every(
    (one) =>
      (findComponent(one, 'etcd') === undefined) === (findComponent(one, 'kube-apiserver') === undefined),
  )
  const taints = findNode(observation, host)?.taints ?? []
  const isTainted = taints.some(
    ({ key }) => controlPlaneTaints.has(key) || key === 'node-role.kubernetes.io/etcd',
  )
  return [
    ...(isControlPlane ? ['control-plane' as const] : []),
    ...(isMember && !runsOnControlPlanes ? ['etcd' as const] : []),
    ...((isControlPlane || (isMember && observation.from !== 'rke1')) && isTainted
      ? []
      : ['worker' as const]),
  ]
}

/** Taints that Kubernetes sets and removes by itself. */
const ownTaints = /^node\.kubernetes\.io\/|^node\.cloudprovider\.kubernetes\.io\//

/** Lists the taints of a node; undefined if they are those that hyperkube sets for its roles. */
function listTaints(
  observation: AdoptionObservation,
  host: AdoptedHost,
  roles: readonly HostRole[],
): readonly object[] | undefined {
  const taints = (findNode(observation, host)?.taints ?? []).filter(({ key }) => !ownTaints.test(key))
  const isDefault =
    roles.includes('control-plane') && !roles.includes('worker')
      ? taints.length === 1 &&
        taints[0]?.key === 'node-role.kubernetes.io/control-plane' &&
        taints[0].value === ''
      : taints.length === 0
  return isDefault ? undefined : taints
}

/** Labels that kubelets, Kubernetes or hyperkube set by themselves, and those of Rancher. */
const ownLabels =
  /^(?:kubernetes\.io\/(?:hostname|os|arch)|beta\.kubernetes\.io\/.*|node\.kubernetes\.io\/.*|node-role\.kubernetes\.io\/control-plane|(?:.*\.)?cattle\.io\/.*)$/

/**
 * Lists the labels that people and the other tool set. The addons of RKE1 run only on nodes with its role labels,
 * so a host that is added later needs them too.
 */
function listLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter(
      ([key, value]) =>
        !ownLabels.test(key) && labelKey.safeParse(key).success && labelValue.safeParse(value).success,
    ),
  )
}
