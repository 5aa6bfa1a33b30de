import { addressAt } from '../../spec/cidr.ts'
import { clusterApiVersion } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { adoptedPrograms, sortFlags } from './adopted-flags.ts'
import { describeApi } from './api-settings.ts'
import { describeHost, listWorkerVersions, nameHosts } from './host-settings.ts'
import { type KubeletSettings, readClusterDns, readKubeletSettings } from './kubelet-settings.ts'
import { describeNetwork, findArgs, readNetworks } from './network-settings.ts'
import { type AdoptedHost, type AdoptionObservation, findKubeProxyMode } from './observation.ts'
import { planPodSecurity } from './pod-security.ts'

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
  const kubelets = observation.hosts.map((host) =>
    keepClusterDns(observation, host, keepReserved(observation, readKubeletSettings(host))),
  )
  const sharedKubelet = sameForAll(kubelets)
  const names = nameHosts(observation)
  const { security, ...givenSpec } = given.spec ?? {}
  const hosts = observation.hosts.map((host, index) => ({
    ...describeHost(observation, host, names[index] ?? host.hostname, given.hostSsh.get(host.address)),
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
      security: {
        podSecurity: planPodSecurity(observation).level,
        ...(typeof security === 'object' ? security : {}),
      },
      // What runs in the cluster stays as it is. hyperkube manages an addon once its setting is removed.
      ...{ dns: 'none', metrics: 'none', ingress: 'none', storage: 'none' },
      ...givenSpec,
    },
  }
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

/**
 * Keeps the memory that a node of kubeadm reserves, which is none by default. If the new kubelet reserved more, it
 * would refuse running pods of a full node.
 */
function keepReserved({ from }: AdoptionObservation, settings: KubeletSettings): KubeletSettings {
  return from === 'kubeadm'
    ? { ...settings, kubeReserved: { memory: '0', ...settings.kubeReserved } }
    : settings
}

/**
 * Keeps DNS servers of pods other than the address that the tools and hyperkube give to the DNS Service. The DNS
 * addon stays, so that address may lead nowhere.
 */
function keepClusterDns(
  observation: AdoptionObservation,
  host: AdoptedHost,
  settings: KubeletSettings,
): KubeletSettings {
  const servers = readClusterDns(host)
  const [services] = readNetworks(observation).services
  const isDefault = services !== undefined && servers.join() === addressAt(services, 10)
  return servers.length === 0 || isDefault
    ? settings
    : { ...settings, config: { ...settings.config, clusterDNS: servers } }
}

/** Moves resources that only the cluster has as a setting to the configuration of the kubelet. */
function toHostSettings({ kubeReserved, ...settings }: KubeletSettings): KubeletSettings {
  if (kubeReserved === undefined) return settings
  const others = settings.config?.['kubeReserved']
  return {
    ...settings,
    config: {
      ...settings.config,
      kubeReserved: { ...kubeReserved, ...(typeof others === 'object' ? others : {}) },
    },
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
    'service-account-issuer': `https://kubernetes.default.svc.${readNetworks(observation).domain}`,
  }
}

function describeComponents(observation: AdoptionObservation): object {
  const described = adoptedPrograms.map((program) => {
    const { kept } = sortFlags(
      observation.from,
      program,
      findArgs(observation, program),
      listDefaultFlags(observation),
    )
    // Clients that were written for long-lived tokens must not lose their access.
    const extended = program === 'kube-apiserver' ? { 'service-account-extend-token-expiration': 'true' } : {}
    return [componentKeys[program], { args: { ...extended, ...kept } }] as const
  })
  return Object.fromEntries(described.filter(([, { args }]) => Object.keys(args).length > 0))
}

/**
 * ipvs is not supported by hyperkube, so its own choice applies. The kube-proxy of kubeadm is a DaemonSet, which
 * stays.
 */
function describeKubeProxy(observation: AdoptionObservation): object {
  if (observation.from === 'kubeadm') return {}
  const mode = findKubeProxyMode(observation)
  return mode === 'iptables' || mode === 'nftables' ? { kubeProxy: { mode } } : {}
}
