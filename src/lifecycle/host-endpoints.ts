import type { NodePlan } from '../contract/node-plan.ts'
import { internalAddress } from '../plan/topology.ts'
import type { Roles } from '../rollout/input.ts'
import type { Cluster } from '../spec/cluster.ts'
import { etcdHosts } from '../spec/etcd-hosts.ts'

/** Where the programs of a cluster are, as far as one asks them from outside. */
export interface Place {
  readonly host: string
  readonly address: string
  readonly etcd: boolean
  readonly api: boolean
  /** Whether it runs hyperkube's own controllers, where it does. */
  readonly manager?: true
  /** What the API calls it, where it is a node. */
  readonly node: string | undefined
  /** What it runs, where that is not Linux. */
  readonly os?: 'windows'
}

export function placesOf(plans: readonly NodePlan[]): Place[] {
  return plans.map(({ host, address, os, components, node }) => {
    const has = (name: string): boolean => components.some((component) => component.name === name)
    return {
      host,
      address,
      etcd: has('etcd'),
      api: has('kube-apiserver'),
      ...managerOf(has('hyperkube-controller-manager')),
      node: node?.name,
      ...osOf(os),
    }
  })
}

/** As the file says it, for those who ask no host what it is. */
export function placesIn(cluster: Cluster): Place[] {
  const members = new Set(etcdHosts(cluster).map(({ name }) => name))
  return cluster.spec.hosts.map((host) => ({
    host: host.name,
    address: internalAddress(host, undefined) ?? host.address,
    etcd: members.has(host.name),
    api: host.roles.includes('control-plane'),
    ...managerOf(host.roles.includes('control-plane') && cluster.spec.manager !== 'none'),
    node: host.roles.some((role) => role !== 'etcd') ? (host.nodeName ?? host.name) : undefined,
    ...osOf(host.os),
  }))
}

function managerOf(runs: boolean): Pick<Place, 'manager'> {
  return runs ? { manager: true } : {}
}

function osOf(os: NodePlan['os']): Pick<Place, 'os'> {
  return os === 'windows' ? { os } : {}
}

/** As the hosts themselves say it, where they answer. */
export function placesNow(cluster: Cluster, plans: readonly NodePlan[]): Place[] {
  const known = new Map(placesOf(plans).map((place) => [place.host, place]))
  return placesIn(cluster).map((place) => known.get(place.host) ?? place)
}

/** What the hosts of a cluster shall be, by name, for the order across those that have no plan. */
export function rolesIn(cluster: Cluster): ReadonlyMap<string, Roles> {
  return new Map(placesIn(cluster).map((place) => [place.host, rolesAt(place)]))
}

export function rolesAt({ etcd, api, node }: Place): Roles {
  return { member: etcd, controlPlane: api, node: node !== undefined }
}
