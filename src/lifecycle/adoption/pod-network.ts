import type { AdoptionObservation } from './observation.ts'

/** The pod network of an observed cluster. */
export type PodNetwork =
  | {
      readonly kind: 'flannel' | 'canal'
      readonly backend: 'vxlan' | 'host-gw'
      readonly vni?: number
      readonly port?: number
      /** True if flannel runs as a service of the hosts instead of pods. */
      readonly isService: boolean
      /** True if kube-router enforces NetworkPolicy. */
      readonly kubeRouter: boolean
    }
  | { readonly kind: 'unsupported'; readonly name: string }

/** Names of pod networks by the type of their CNI plugin. */
const names: Readonly<Record<string, string>> = {
  calico: 'Calico',
  'cilium-cni': 'Cilium',
  'weave-net': 'Weave Net',
  antrea: 'Antrea',
  'kube-ovn': 'Kube-OVN',
  'aws-cni': 'the AWS VPC CNI',
  'azure-vnet': 'the Azure CNI',
}

/** CNI plugins that canal configures on hosts. A DaemonSet of canal alone may be a remainder. */
const canalPlugins: ReadonlySet<string> = new Set(['calico', 'flannel', 'bridge'])

/** Finds out which pod network a cluster has, from files and links of hosts and from DaemonSets. */
export function describePodNetwork({ hosts, api }: Pick<AdoptionObservation, 'hosts' | 'api'>): PodNetwork {
  const active = hosts.flatMap(({ cni: [first] }) => first ?? [])
  const daemonSets = api?.daemonSets ?? []
  const hasDaemonSet = (name: RegExp): boolean => daemonSets.some((one) => name.test(one.name))
  const isService = hosts.length > 0 && hosts.every(({ services }) => services.includes('flanneld'))
  const isCanal =
    (hasDaemonSet(/^(?:rke2?-)?canal$/) || active.some(({ file }) => file.includes('canal'))) &&
    active.every(({ types: [first = ''] }) => canalPlugins.has(first))
  const isFlannel =
    isCanal ||
    (active.length > 0 &&
      active.every(({ types: [first = ''] }) => first === 'flannel' || (first === 'bridge' && isService)))
  if (!isFlannel) return { kind: 'unsupported', name: describeOther(active, daemonSets) }
  const backends = new Set((api?.nodes ?? []).flatMap(({ flannelBackend }) => flannelBackend ?? []))
  const [link] = hosts.flatMap(({ vxlan }) => vxlan.filter(({ name }) => name.startsWith('flannel')))
  const [backend = link === undefined ? 'host-gw' : 'vxlan', ...more] = backends
  if (more.length > 0 || (backend !== 'vxlan' && backend !== 'host-gw')) {
    return { kind: 'unsupported', name: `flannel with the backend ${[...backends].join(', ')}` }
  }
  return {
    kind: isCanal ? 'canal' : 'flannel',
    backend,
    ...(backend === 'vxlan' && link !== undefined ? { vni: link.vni, port: link.port } : {}),
    isService,
    kubeRouter:
      hasDaemonSet(/^kube-router$/) || hosts.some(({ services }) => services.includes('kube-router')),
  }
}

function describeOther(
  active: readonly { readonly types: readonly string[] }[],
  daemonSets: readonly { readonly name: string }[],
): string {
  const types = [...new Set(active.map(({ types: [first = ''] }) => first))]
  const known = types.map((type) => names[type] ?? `the CNI plugin ${type}`)
  if (known.length > 0) return known.join(' and ')
  const found = daemonSets.find(({ name }) => /calico|cilium|weave|antrea|ovn/.test(name))
  return found === undefined ? 'unknown: no host has a configuration in /etc/cni/net.d' : found.name
}
