import { formatHostPort } from '../../../kit/host-port.ts'
import { formatNames, joinNames } from '../../../kit/text.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { listInternalAddresses } from '../host-settings.ts'
import { type AdoptionObservation, findComponent, listAdoptedControlPlanes } from '../observation.ts'
import type { AdoptionCheck } from './check.ts'

/** True if API servers use an etcd that runs on no host of the cluster. */
export function usesExternalEtcd(observation: AdoptionObservation): boolean {
  if (observation.api?.kubeadm?.etcd.external === true) return true
  const hasServers = listAdoptedControlPlanes(observation).length > 0
  return hasServers && !observation.hosts.some((host) => findComponent(host, 'etcd') !== undefined)
}

export const checkExternalEtcd: AdoptionCheck = (observation) => {
  if (!usesExternalEtcd(observation)) return []
  const [server] = listAdoptedControlPlanes(observation).flatMap(
    (host) => findComponent(host, 'kube-apiserver') ?? [],
  )
  const urls = server?.args['etcd-servers'] ?? 'other hosts'
  return [
    prevents(
      'ADOPT_EXTERNAL_ETCD',
      `etcd runs outside of the cluster, at ${urls}`,
      'move its data to the control planes first, as upstream documents it for etcd members: etcdctl member add',
    ),
  ]
}

/** Finds members that are lost, unhealthy or not on a host of the cluster. */
export const checkMembers: AdoptionCheck = (observation) => {
  const { etcd, etcdFailure = 'no member responds', hosts } = observation
  if (listAdoptedControlPlanes(observation).length === 0 || usesExternalEtcd(observation)) return []
  if (etcd === undefined) {
    return [
      prevents(
        'ADOPT_ETCD_NOT_READ',
        `etcd could not be read: ${etcdFailure}`,
        'repair etcd first; on a control plane: crictl ps --name etcd, or docker ps',
      ),
    ]
  }
  const lost = etcd.members.filter(({ healthy, learner }) => !healthy || learner)
  const unknown = etcd.members.filter(({ peerUrls }) => !peerUrls.some((url) => isOnHost(url, hosts)))
  const names = [...new Set([...lost, ...unknown].map(({ name }) => name))]
  const silent = hosts.filter(
    (host) =>
      findComponent(host, 'etcd') !== undefined &&
      !etcd.members.some(({ peerUrls }) => peerUrls.some((url) => isOnHost(url, [host]))),
  )
  return [
    ...(names.length === 0 ? [] : [buildMemberItem(names, etcd.confirmed)]),
    ...silent.map(({ address }) =>
      prevents(
        'ADOPT_ETCD_MEMBER_LOST',
        'the host runs etcd, but is not among the members of the cluster',
        'remove the etcd of this host, or add it as a member again',
        address,
      ),
    ),
  ]
}

/**
 * Finds members at another address than that of their node. hyperkube has one internal address of a host, for etcd,
 * the API server and the node. The other members would not reach a moved one.
 */
export const checkMemberAddresses: AdoptionCheck = (observation) => {
  const members = observation.etcd?.members ?? []
  return observation.hosts.flatMap((host) => {
    // An address of another machine is reported as a swapped name.
    const internal = listInternalAddresses(observation, host).find((one) => host.addresses.includes(one))
    const member = members.find(({ peerUrls }) => peerUrls.some((url) => isOnHost(url, [host])))
    if (internal === undefined || member === undefined || findComponent(host, 'etcd') === undefined) return []
    const expected = `https://${formatHostPort(internal, 2380)}`
    if (member.peerUrls.includes(expected)) return []
    return [
      prevents(
        'ADOPT_ETCD_ADDRESS',
        `the etcd member ${member.name} has the peer URL ${joinNames(member.peerUrls)}, but its node has the address ${internal}; hyperkube uses one address for both`,
        `set --node-ip of the kubelet to the address of etcd, or change the member: etcdctl member update ID --peer-urls=${expected}`,
        host.address,
      ),
    ]
  })
}

function isOnHost(url: string, hosts: AdoptionObservation['hosts']): boolean {
  const address = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '')
  return hosts.some((host) => host.address === address || host.addresses.some((one) => one === address))
}

function buildMemberItem(names: readonly string[], confirmed: boolean): AdoptionItem {
  const quorum = confirmed ? '' : ', and there is no quorum'
  return prevents(
    'ADOPT_ETCD_MEMBER_LOST',
    `etcd members are lost, unhealthy or not on a host that was read: ${formatNames(names)}${quorum}`,
    'repair or remove them first: etcdctl endpoint status --cluster; etcdctl member remove ID',
  )
}
