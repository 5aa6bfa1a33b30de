import type { Lock } from '../catalog/lock.ts'
import type { KubernetesRelease } from '../catalog/kubernetes-release.ts'
import type { ManagerSettings } from '../contract/manager-settings.ts'
import type { Facts } from '../contract/facts.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import type { SharedPlanData } from './shared-data.ts'
import type { Topology } from './topology.ts'

/** Input for planning a cluster. */
export interface PlanInput {
  readonly cluster: Cluster
  readonly release: KubernetesRelease
  readonly lock: Lock
  readonly identity: PublicIdentity
  /** Facts by host name. A host without facts cannot be planned. */
  readonly facts: ReadonlyMap<string, Facts>
  /** Contents of files that cluster.yml refers to, by the name in cluster.yml. */
  readonly attachments: ReadonlyMap<string, string>
  /** Returns the hyperkube version for a host. */
  readonly version: (host: string) => string
  /** Pinned images of addons. Every Linux node pulls them before the addons start. */
  readonly images?: readonly string[]
  /** Addons that controllers repair, if cluster.yml enables this. */
  readonly addons?: ManagerSettings['addons']
}

export type LinuxSystemFacts = Extract<Facts['system'], { os: 'linux' }>
export type WindowsSystemFacts = Extract<Facts['system'], { os: 'windows' }>

/** Input for planning the components of one host. */
export interface PlanContext<System extends Facts['system'] = Facts['system']>
  extends Omit<PlanInput, 'version'>, SharedPlanData {
  /** Version of hyperkube that this host gets. */
  readonly version: string
  readonly topology: Topology
  readonly host: HostSpec
  readonly system: System
  /** Address at which the other hosts reach this one. */
  readonly address: string
}

export type LinuxPlanContext = PlanContext<LinuxSystemFacts>
export type WindowsPlanContext = PlanContext<WindowsSystemFacts>

export function isControlPlane({ host }: Pick<PlanContext, 'host'>): boolean {
  return host.roles.includes('control-plane')
}

/** True if the host runs hyperkube-controller-manager. */
export function isManager({ host, cluster }: Pick<PlanContext, 'host' | 'cluster'>): boolean {
  return isControlPlane({ host }) && cluster.spec.manager !== 'none'
}

/** True if the host is a Kubernetes node, not only an etcd member. */
export function isNode({ host }: Pick<PlanContext, 'host'>): boolean {
  return host.roles.some((role) => role !== 'etcd')
}

export function isEtcdMember({ host, topology }: Pick<PlanContext, 'host' | 'topology'>): boolean {
  return topology.etcd.some(({ name }) => name === host.name)
}
