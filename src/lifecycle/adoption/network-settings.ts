import { type AdoptionObservation, findComponent } from './observation.ts'

const splitList = (text: string | undefined): string[] =>
  (text ?? '').split(',').filter((part) => part !== '')

/** Returns the flags of a component on the first host that runs it. etcd may have hosts of its own. */
export function findArgs(
  observation: AdoptionObservation,
  program: string,
): Readonly<Record<string, string>> {
  const [found] = observation.hosts.flatMap((host) => findComponent(host, program) ?? [])
  return found?.args ?? {}
}

/** Networks of an observed cluster. The lists are empty if they are unknown. */
export function readNetworks(observation: AdoptionObservation): {
  readonly pods: readonly string[]
  readonly services: readonly string[]
  readonly domain: string
} {
  const domains = observation.hosts.map(
    ({ kubelet }) => kubelet.args['cluster-domain'] ?? kubelet.config['clusterDomain'],
  )
  const domain = domains.find((one) => typeof one === 'string' && one !== '')
  return {
    pods: splitList(findArgs(observation, 'kube-controller-manager')['cluster-cidr']),
    services: splitList(findArgs(observation, 'kube-apiserver')['service-cluster-ip-range']),
    domain: typeof domain === 'string' ? domain : 'cluster.local',
  }
}

const single = (values: readonly string[]): unknown => (values.length === 1 ? values[0] : values)

/** Describes the networks and the pod network. */
export function describeNetwork(observation: AdoptionObservation): object {
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
    // The pod network stays as it is. kube-proxy of kubeadm is a pod and stays too; that of RKE1 is a container
    // of Docker, which moves.
    plugin: 'none',
    ...(observation.from === 'kubeadm' ? { kubeProxy: 'none' } : {}),
    pods: single(pods),
    services: single(services),
    ...(nodePrefix === undefined || nodePrefix === 24 ? {} : { nodePrefix }),
    ...(nodePrefixIPv6 === undefined || nodePrefixIPv6 === 64 ? {} : { nodePrefixIPv6 }),
    ...(domain === 'cluster.local' ? {} : { domain }),
    ...(nodePorts === undefined ? {} : { nodePorts: nodePorts.replace(':', '-') }),
  }
}
