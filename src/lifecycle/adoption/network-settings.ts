import { type AdoptionObservation, findComponent, listAdoptedControlPlanes } from './observation.ts'
import { describePodNetwork, type PodNetwork } from './pod-network.ts'

const splitList = (text: string | undefined): string[] =>
  (text ?? '').split(',').filter((part) => part !== '')

/** Returns the flags of a component on the first control plane. */
export function findArgs(
  observation: AdoptionObservation,
  program: string,
): Readonly<Record<string, string>> {
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

function isPolicyEnforced(network: PodNetwork): boolean {
  return network.kind === 'canal' || (network.kind === 'flannel' && network.kubeRouter)
}

/** Describes the networks and the pod network. */
export function describeNetwork(observation: AdoptionObservation): object {
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
  // The pod network and kube-proxy of kubeadm clusters are pods or services that stay as they are.
  const isKept = observation.from === 'kubeadm'
  return {
    ...(isKept
      ? { plugin: 'none', kubeProxy: 'none' }
      : { plugin: 'flannel', policy: isPolicyEnforced(network) ? 'kube-router' : 'none' }),
    pods: single(pods),
    services: single(services),
    ...(nodePrefix === undefined || nodePrefix === 24 ? {} : { nodePrefix }),
    ...(nodePrefixIPv6 === undefined || nodePrefixIPv6 === 64 ? {} : { nodePrefixIPv6 }),
    ...(domain === 'cluster.local' ? {} : { domain }),
    ...(nodePorts === undefined ? {} : { nodePorts: nodePorts.replace(':', '-') }),
    ...(isKept || network.kind === 'unsupported'
      ? {}
      : {
          flannel: {
            backend: network.backend,
            ...(network.vni === undefined ? {} : { vni: network.vni, port: network.port }),
          },
        }),
  }
}
