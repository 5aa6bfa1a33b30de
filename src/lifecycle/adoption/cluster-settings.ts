import { isIPv4 } from 'node:net'
import { clusterApiVersion } from '../../spec/cluster.ts'
import type { HostRole, HostSpec } from '../../spec/host.ts'
import { labelKey, labelValue } from '../../spec/scalars.ts'
import { parseEndpointHost } from '../../spec/api.ts'
import { addressAt } from '../../spec/cidr.ts'
import { adoptedPrograms, sortFlags } from './adopted-flags.ts'
import { type KubeletSettings, readKubeletSettings } from './kubelet-settings.ts'
import {
  type AdoptedHost,
  type AdoptionObservation,
  findComponent,
  findKubeProxyMode,
  findNode,
  listAdoptedControlPlanes,
} from './observation.ts'
import { describePodNetwork } from './pod-network.ts'

/** Settings that the operator or the file of the other tool gives. */
export interface GivenSettings {
  readonly name: string
  /** Connection settings of all hosts. */
  readonly ssh?: object
  /** Connection settings by address. */
  readonly hostSsh: ReadonlyMap<string, HostSpec['ssh']>
  /** Further parts of `spec` that the file of the other tool sets. */
  readonly spec?: Readonly<Record<string, unknown>>
}

/** Content of a cluster.yml before validation. */
export type ClusterDocument = Readonly<Record<string, unknown>>

/** Builds the cluster.yml that describes an observed cluster as it is. */
export function buildAdoptedCluster(observation: AdoptionObservation, given: GivenSettings): ClusterDocument {
  const kubelets = observation.hosts.map(readKubeletSettings)
  const sharedKubelet = sameForAll(kubelets)
  const names = nameHosts(observation)
  const hosts = observation.hosts.map((host, index) => ({
    ...describeHost(observation, host, names[index] ?? host.hostname, given),
    ...(sharedKubelet === undefined && Object.keys(kubelets[index] ?? {}).length > 0
      ? { components: { kubelet: toHostSettings(kubelets[index] ?? {}) } }
      : {}),
  }))
  const components = {
    ...describeComponents(observation),
    ...(sharedKubelet === undefined || Object.keys(sharedKubelet).length === 0
      ? {}
      : { kubelet: sharedKubelet }),
    ...describeKubeProxy(observation),
  }
  return {
    apiVersion: clusterApiVersion,
    kind: 'Cluster',
    metadata: { name: given.name },
    spec: {
      kubernetes: observation.api?.version ?? '',
      ...describeWorkers(observation),
      hosts,
      ...(given.ssh === undefined ? {} : { ssh: given.ssh }),
      network: describeNetwork(observation),
      ...withContent('api', describeApi(observation)),
      ...withContent('components', components),
      // Namespaces without a label had no restriction until now.
      security: { podSecurity: 'privileged' },
      // What runs in the cluster stays as it is. hyperkube manages an addon once its setting is removed.
      ...{ dns: 'none', metrics: 'none', ingress: 'none', storage: 'none' },
      ...given.spec,
    },
  }
}

/** Lists the kubelet versions of hosts that only run pods. */
export function listWorkerVersions(observation: AdoptionObservation): readonly string[] {
  const workers = observation.hosts.filter((host) => findComponent(host, 'kube-apiserver') === undefined)
  return [...new Set(workers.flatMap((host) => findNode(observation, host)?.kubelet ?? []))]
}

/** Describes workers that have another version than the API server. */
function describeWorkers(observation: AdoptionObservation): object {
  const [version] = listWorkerVersions(observation)
  return version === undefined || version === observation.api?.version
    ? {}
    : { workers: { kubernetes: version } }
}

function withContent(name: string, value: object): object {
  return Object.keys(value).length === 0 ? {} : { [name]: value }
}

/** Returns the first value if all values are equal. */
function sameForAll<T>(values: readonly T[]): T | undefined {
  const texts = new Set(values.map((value) => JSON.stringify(value)))
  return texts.size === 1 ? values[0] : undefined
}

/** Moves resources that only the cluster has as a setting to the configuration of the kubelet. */
function toHostSettings({ kubeReserved, ...settings }: KubeletSettings): KubeletSettings {
  return kubeReserved === undefined ? settings : { ...settings, config: { ...settings.config, kubeReserved } }
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

function describeHost(
  observation: AdoptionObservation,
  host: AdoptedHost,
  name: string,
  { hostSsh }: GivenSettings,
): object {
  const node = findNode(observation, host)
  const internal = node?.addresses.find((address) => isIPv4(address)) ?? node?.addresses[0]
  const internalV6 = node?.addresses.find((address) => address !== internal && !isIPv4(address))
  const ssh = hostSsh.get(host.address)
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
    ...withContent('labels', labels),
    ...(taints === undefined ? {} : { taints }),
  }
}

const controlPlaneTaints = new Set([
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/controlplane',
  'node-role.kubernetes.io/master',
])

/** Lists the roles of a host according to the components that run there. */
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
    ...((isControlPlane || isMember) && isTainted ? [] : ['worker' as const]),
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

/** Lists the labels that people set. Labels of Kubernetes and of the other tool stay on the node. */
function listLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter(
      ([key, value]) =>
        !/(?:^|\.)(?:kubernetes|k8s)\.io\/|cattle\.io\//.test(key) &&
        labelKey.safeParse(key).success &&
        labelValue.safeParse(value).success,
    ),
  )
}

const splitList = (text: string | undefined): string[] =>
  (text ?? '').split(',').filter((part) => part !== '')

function findArgs(observation: AdoptionObservation, program: string): Readonly<Record<string, string>> {
  const [found] = listAdoptedControlPlanes(observation).flatMap((host) => findComponent(host, program) ?? [])
  return found?.args ?? {}
}

/** Networks of an observed cluster. The lists are empty if they are unknown. */
export function readNetworks(observation: AdoptionObservation): {
  readonly pods: readonly string[]
  readonly services: readonly string[]
  readonly domain: string
} {
  const domains = observation.hosts.map(
    ({ kubelet }) => kubelet.config['clusterDomain'] ?? kubelet.args['cluster-domain'],
  )
  const domain = domains.find((one) => typeof one === 'string' && one !== '')
  return {
    pods: splitList(findArgs(observation, 'kube-controller-manager')['cluster-cidr']),
    services: splitList(findArgs(observation, 'kube-apiserver')['service-cluster-ip-range']),
    domain: typeof domain === 'string' ? domain : 'cluster.local',
  }
}

const single = (values: readonly string[]): unknown => (values.length === 1 ? values[0] : values)

function describeNetwork(observation: AdoptionObservation): object {
  const network = describePodNetwork(observation)
  const { pods, services, domain } = readNetworks(observation)
  const prefixes = (observation.api?.nodes ?? []).flatMap(({ podCidrs }) => podCidrs)
  const prefix = (isFamily: (cidr: string) => boolean): number | undefined => {
    const found = prefixes.find(isFamily)?.split('/')[1]
    return found === undefined ? undefined : Number(found)
  }
  const [nodePrefix, nodePrefixIPv6] = [
    prefix((one) => !one.includes(':')),
    prefix((one) => one.includes(':')),
  ]
  const nodePorts = findArgs(observation, 'kube-apiserver')['service-node-port-range']
  return {
    plugin: 'flannel',
    policy:
      network.kind === 'canal' || (network.kind === 'flannel' && network.kubeRouter) ? 'kube-router' : 'none',
    pods: single(pods),
    services: single(services),
    ...(nodePrefix === undefined || nodePrefix === 24 ? {} : { nodePrefix }),
    ...(nodePrefixIPv6 === undefined || nodePrefixIPv6 === 64 ? {} : { nodePrefixIPv6 }),
    ...(domain === 'cluster.local' ? {} : { domain }),
    ...(nodePorts === undefined ? {} : { nodePorts: nodePorts.replace(':', '-') }),
    ...(network.kind === 'unsupported'
      ? {}
      : {
          flannel: {
            backend: network.backend,
            ...(network.vni === undefined ? {} : { vni: network.vni, port: network.port }),
          },
        }),
  }
}

/** Names that the certificates of hyperkube's API servers have anyway. */
function isStandardName(name: string, observation: AdoptionObservation): boolean {
  const { services } = readNetworks(observation)
  return (
    /^kubernetes(?:\.default.*)?$|^localhost$|^127\.0\.0\.1$|^::1$/.test(name) ||
    services.some((network) => name === addressAt(network, 1)) ||
    observation.hosts.some(
      (host) =>
        host.address === name ||
        host.nodeName === name ||
        host.hostname === name ||
        host.addresses.includes(name),
    )
  )
}

function describeApi(observation: AdoptionObservation): object {
  const endpoint = observation.api?.kubeadm?.controlPlaneEndpoint ?? ''
  const isOwn = endpoint === '' || isStandardName(parseEndpointHost(endpoint), observation)
  const port = Number(findArgs(observation, 'kube-apiserver')['secure-port'] ?? 6443)
  const sans = listAdoptedControlPlanes(observation).flatMap(({ certificates }) =>
    certificates
      .filter(({ path }) => /\/(?:apiserver\.crt|kube-apiserver\.pem)$/.test(path))
      .flatMap(({ names }) => names),
  )
  const own = [...new Set(sans)].filter(
    (name) => !isStandardName(name, observation) && name !== parseEndpointHost(endpoint),
  )
  return {
    ...(isOwn ? {} : { endpoint: endpoint.includes(':') ? endpoint : `${endpoint}:${port}` }),
    ...(port === 6443 ? {} : { port }),
    ...(own.length === 0 ? {} : { sans: own }),
  }
}

const componentKeys = {
  etcd: 'etcd',
  'kube-apiserver': 'apiServer',
  'kube-controller-manager': 'controllerManager',
  'kube-scheduler': 'scheduler',
} as const

/** Values of flags that hyperkube sets anyway. */
export function listDefaultFlags(observation: AdoptionObservation): Readonly<Record<string, string>> {
  return {
    'enable-admission-plugins': 'NodeRestriction',
    'service-account-issuer': `https://kubernetes.default.svc.${readNetworks(observation).domain}`,
  }
}

function describeComponents(observation: AdoptionObservation): object {
  const described = adoptedPrograms.map((program) => {
    const { kept } = sortFlags(program, findArgs(observation, program), listDefaultFlags(observation))
    // Clients that were written for long-lived tokens must not lose their access.
    const extended = program === 'kube-apiserver' ? { 'service-account-extend-token-expiration': 'true' } : {}
    return [componentKeys[program], { args: { ...extended, ...kept } }] as const
  })
  return Object.fromEntries(described.filter(([, { args }]) => Object.keys(args).length > 0))
}

/** ipvs is not supported by hyperkube, so its own choice applies. */
function describeKubeProxy(observation: AdoptionObservation): object {
  const mode = findKubeProxyMode(observation)
  return mode === 'iptables' || mode === 'nftables' ? { kubeProxy: { mode } } : {}
}
