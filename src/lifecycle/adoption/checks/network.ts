import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { findKubeProxyMode } from '../observation.ts'
import { describePodNetwork } from '../pod-network.ts'
import { isIpv6First } from '../../../spec/network.ts'
import { readNetworks } from '../network-settings.ts'
import type { AdoptionCheck } from './check.ts'

export const checkPodNetwork: AdoptionCheck = (observation) => {
  if (observation.hosts.length === 0) return []
  const found = describePodNetwork(observation)
  if (found.kind !== 'unsupported') return []
  return [
    prevents(
      'ADOPT_CNI',
      `the pod network is ${found.name}; only flannel and canal can be adopted`,
      'keep this cluster with its tool, or create a new cluster with spec.network.plugin: none and move workloads',
    ),
  ]
}

/** hyperkube connects etcd members and API servers over IPv4. Other tools use the first address family. */
export const checkAddressFamily: AdoptionCheck = (observation) => {
  const { services } = readNetworks(observation)
  if (!isIpv6First({ services: [...services] })) return []
  return [
    prevents(
      'ADOPT_IPV6_FIRST',
      `the first service network is ${services[0]}; only clusters with IPv4 first can be adopted`,
      'keep this cluster with its tool, or create a new cluster with the networks in this order and move workloads',
    ),
  ]
}

export const checkKubeProxy: AdoptionCheck = (observation): readonly AdoptionItem[] => {
  if (observation.api === undefined || findKubeProxyMode(observation) !== undefined) return []
  return [
    prevents(
      'ADOPT_KUBE_PROXY_MISSING',
      'the cluster has no kube-proxy, and the pod networks that can be adopted need it',
      'keep this cluster with its tool, or install kube-proxy: kubeadm init phase addon kube-proxy',
    ),
  ]
}
