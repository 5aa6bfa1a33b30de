import type { Leaving } from '../rollout/input.ts'
import type { Node } from './cluster-objects/node.ts'
import { remembered } from './cluster-objects/node-settings.ts'
import type { KnownMember } from './current-state.ts'
import { type Place, rolesAt } from './host-endpoints.ts'

/** A host that is part of the cluster though cluster.yml does not name it any more. In etcd it may have a place without a vote. */
export type Leaver = Place

/**
 * Who has to leave: members of etcd and nodes of ours that are at no place of the file. A node that we have never said
 * anything of is somebody else's.
 */
export function leaversOf(
  places: readonly Pick<Place, 'address' | 'node'>[],
  members: readonly KnownMember[],
  nodes: readonly Node[],
): Leaver[] {
  const wished = new Set(places.map(({ address }) => address))
  const wishedNodes = new Set(places.map(({ node }) => node))
  const going = members.flatMap((member) => {
    const address = addressOf(member)
    return address === undefined || wished.has(address) ? [] : [{ name: member.name, address }]
  })
  const left = nodes.filter((node) => isOurs(node) && !wishedNodes.has(node.metadata.name))
  const byAddress = new Map(left.map((node) => [internalAddress(node), node]))
  const withEtcd = going.map(({ name, address }): Leaver => {
    const node = byAddress.get(address)
    return {
      host: name || (node?.metadata.name ?? address),
      address,
      etcd: true,
      api: node !== undefined && isControlPlane(node),
      node: node?.metadata.name,
    }
  })
  const addresses = new Set(going.map(({ address }) => address))
  const others = left.flatMap((node): Leaver[] => {
    const address = internalAddress(node)
    if (address !== undefined && addresses.has(address)) return []
    const { name } = node.metadata
    const os = node.metadata.labels?.['kubernetes.io/os'] === 'windows' ? { os: 'windows' as const } : {}
    return [
      { host: name, address: address ?? name, etcd: false, api: isControlPlane(node), node: name, ...os },
    ]
  })
  return [...withEtcd, ...others].toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

/** As the order across hosts needs to know it. */
export function leavingOf(leaver: Leaver, answers: boolean): Leaving {
  return { host: leaver.host, answers, live: rolesAt(leaver) }
}

function addressOf({ peerUrls }: KnownMember): string | undefined {
  const [url] = peerUrls
  return url === undefined ? undefined : new URL(url).hostname
}

function isOurs({ metadata }: Node): boolean {
  return remembered in (metadata.annotations ?? {})
}

function isControlPlane({ metadata }: Node): boolean {
  return 'node-role.kubernetes.io/control-plane' in (metadata.labels ?? {})
}

function internalAddress({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
}
