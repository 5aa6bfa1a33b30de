import type { Lock } from '../catalog/lock.ts'
import type { Release } from '../catalog/kubernetes-release.ts'
import type { ManagerSettings } from '../contract/manager-settings.ts'
import type { Facts } from '../contract/facts.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Host } from '../spec/host.ts'
import type { Shared } from './shared-data.ts'
import type { Topology } from './topology.ts'

/** All that a cluster is planned from. */
export interface PlanInput {
  readonly cluster: Cluster
  readonly release: Release
  readonly lock: Lock
  readonly identity: PublicIdentity
  /** By the name of the host. A host without them cannot be planned. */
  readonly facts: ReadonlyMap<string, Facts>
  /** Files beside cluster.yml that it refers to, by the name it gives them. */
  readonly attachments: ReadonlyMap<string, string>
  /** Of hyperkube itself, as a host has it. */
  readonly version: (host: string) => string
  /** What will run in the cluster, and shall be on every Linux node before: images of addons, as they are pinned. */
  readonly images?: readonly string[]
  /** What controllers may put back, where somebody wants them to. */
  readonly addons?: ManagerSettings['addons']
}

export type LinuxFacts = Extract<Facts['system'], { os: 'linux' }>
export type WindowsFacts = Extract<Facts['system'], { os: 'windows' }>

/** What a component of one host is planned from. */
export interface Scene<System extends Facts['system'] = Facts['system']>
  extends Omit<PlanInput, 'version'>, Shared {
  /** Of the hyperkube that this host gets. */
  readonly version: string
  readonly topology: Topology
  readonly host: Host
  readonly system: System
  /** Where the other hosts find this one. */
  readonly address: string
}

export type LinuxScene = Scene<LinuxFacts>
export type WindowsScene = Scene<WindowsFacts>

export function isControlPlane({ host }: Pick<Scene, 'host'>): boolean {
  return host.roles.includes('control-plane')
}

/** Whether the host runs hyperkube's own controllers. */
export function isManager({ host, cluster }: Pick<Scene, 'host' | 'cluster'>): boolean {
  return isControlPlane({ host }) && cluster.spec.manager !== 'none'
}

/** Whether the host is a node of Kubernetes, and not a member of etcd alone. */
export function isNode({ host }: Pick<Scene, 'host'>): boolean {
  return host.roles.some((role) => role !== 'etcd')
}

export function isEtcdMember({ host, topology }: Pick<Scene, 'host' | 'topology'>): boolean {
  return topology.etcd.some(({ name }) => name === host.name)
}
