import { isIPv4 } from 'node:net'
import type { RemovedHost } from '../../rollout/input.ts'
import { nodeSettingsAnnotation } from '../cluster-objects/node-settings.ts'
import type { Node } from '../cluster-objects/node.ts'
import type { KnownEtcdMember } from '../etcd/membership.ts'
import { type HostEndpoint, type PlannedEndpoint, toHostRoles } from '../inputs/host-endpoints.ts'

/**
 * A host that is still part of the cluster although cluster.yml no longer contains it. If the host has an
 * etcd member, the member is a voter or a learner.
 */
export type HostToRemove = PlannedEndpoint

/**
 * Finds etcd members and nodes that are not in cluster.yml. A node without hyperkube's annotation is left
 * out, because another tool manages it.
 */
export function findHostsToRemove(
  endpoints: readonly Pick<HostEndpoint, 'host' | 'address' | 'etcd' | 'node'>[],
  members: readonly KnownEtcdMember[],
  nodes: readonly Node[],
): HostToRemove[] {
  const desiredAddresses = new Set(endpoints.map(({ address }) => address))
  const desiredNodes = new Set(endpoints.map(({ node }) => node))
  const unlocated = endpoints.filter(({ address, etcd }) => etcd && address === undefined)
  const unlocatedNames = new Set(unlocated.map(({ host }) => host))
  // A member that has never started has no name, so it may belong to any host without a known address.
  const mayBeDesired = ({ name }: KnownEtcdMember): boolean =>
    name === '' ? unlocated.length > 0 : unlocatedNames.has(name)
  const membersToRemove = members.flatMap((member) => {
    const address = parseAddress(member)
    return address === undefined || desiredAddresses.has(address) || mayBeDesired(member)
      ? []
      : [{ name: member.name, address }]
  })
  const nodesToRemove = nodes.filter((node) => isManaged(node) && !desiredNodes.has(node.metadata.name))
  const byAddress = new Map(
    nodesToRemove.flatMap((node) => listAddresses(node).map((address) => [address, node] as const)),
  )
  const withEtcd = membersToRemove.map(({ name, address }): HostToRemove => {
    const node = byAddress.get(address)
    return {
      host: name || (node?.metadata.name ?? address),
      address,
      etcd: true,
      api: node !== undefined && isControlPlane(node),
      node: node?.metadata.name,
    }
  })
  const addresses = new Set(membersToRemove.map(({ address }) => address))
  const others = nodesToRemove.flatMap((node): HostToRemove[] => {
    const own = listAddresses(node)
    if (own.some((address) => addresses.has(address))) return []
    const { name } = node.metadata
    // Hosts reach each other at IPv4 addresses, also if IPv6 is first.
    const address = own.find((one) => isIPv4(one)) ?? own[0]
    const os = node.metadata.labels?.['kubernetes.io/os'] === 'windows' ? { os: 'windows' as const } : {}
    return [
      { host: name, address: address ?? name, etcd: false, api: isControlPlane(node), node: name, ...os },
    ]
  })
  return [...withEtcd, ...others].toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

/** Converts a host to remove to the input of the rollout planner. */
export function toRemovedHost(endpoint: HostToRemove, reachable: boolean): RemovedHost {
  return { host: endpoint.host, reachable, live: toHostRoles(endpoint) }
}

function parseAddress({ peerUrls }: KnownEtcdMember): string | undefined {
  const [url] = peerUrls
  return url === undefined ? undefined : new URL(url).hostname
}

function isManaged({ metadata }: Node): boolean {
  return nodeSettingsAnnotation in (metadata.annotations ?? {})
}

function isControlPlane({ metadata }: Node): boolean {
  return 'node-role.kubernetes.io/control-plane' in (metadata.labels ?? {})
}

/** Lists the addresses of a node: two in a dual-stack cluster. */
function listAddresses({ status }: Node): readonly string[] {
  return (status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : []))
}
