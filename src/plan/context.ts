import { stringify } from 'yaml'
import type { KubernetesRelease } from '../catalog/catalog.ts'
import { artifactId, type Lock, type LockedArtifact, type LockPins } from '../catalog/lock.ts'
import { type ComponentPlan, emptyComponent } from '../contract/component-plan.ts'
import type { Facts } from '../contract/facts.ts'
import type { ManagerSettings } from '../contract/manager-settings.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { isIpv6First } from '../spec/network.ts'
import type { Topology } from './topology.ts'

/** Input for planning a cluster. */
export interface PlanInput {
  readonly cluster: Cluster
  readonly release: KubernetesRelease
  /** Release of workers, if they have another version than control planes. */
  readonly workersRelease?: KubernetesRelease | undefined
  /** Release of a held upgrade; undefined if no upgrade is held. */
  readonly heldRelease?: KubernetesRelease | undefined
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
  extends Omit<PlanInput, 'version' | 'lock' | 'workersRelease' | 'heldRelease'>, SharedPlanData {
  /** Pins of this host's Kubernetes version. */
  readonly lock: LockPins
  /** Version of hyperkube that this host gets. */
  readonly version: string
  readonly topology: Topology
  readonly host: HostSpec
  readonly system: System
  /** Address at which other hosts reach this host. */
  readonly address: string
  /** IPv6 address of a node in a dual-stack cluster. */
  readonly ipv6Address?: string | undefined
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

/** Lists the addresses of a node, the primary one first. Kubernetes prefers the primary one. */
export function listNodeAddresses({
  cluster,
  address,
  ipv6Address,
}: Pick<PlanContext, 'cluster' | 'address' | 'ipv6Address'>): readonly [string, ...string[]] {
  if (ipv6Address === undefined) return [address]
  return isIpv6First(cluster.spec.network) ? [ipv6Address, address] : [address, ipv6Address]
}

/** True if the host is a Kubernetes node, not only an etcd member. */
export function isNode({ host }: Pick<PlanContext, 'host'>): boolean {
  return host.roles.some((role) => role !== 'etcd')
}

export function isEtcdMember({ host, topology }: Pick<PlanContext, 'host' | 'topology'>): boolean {
  return topology.etcd.some(({ name }) => name === host.name)
}

/** Plans one component of a host. Returns undefined if the host does not need the component. */
export type ComponentPlanner<S extends PlanContext> = (context: S) => ComponentPlan | undefined

type ComponentFields = Pick<ComponentPlan, 'name' | 'stage'> & Partial<ComponentPlan>

/** Builds a component plan. Omitted fields get empty values. */
export function buildComponentPlan(fields: ComponentFields): ComponentPlan {
  return { ...emptyComponent(), ...fields }
}

/** Data that is equal for all hosts. It is computed only once, because there may be thousands of hosts. */
export interface SharedPlanData {
  readonly locked: ReadonlyMap<string, LockedArtifact>
  /** Control plane programs of a held upgrade; empty if no upgrade is held. */
  readonly held: ReadonlyMap<string, LockedArtifact>
  /** Renders a document as YAML. Texts are cached, because many hosts have equal documents. */
  readonly yaml: (document: object) => string
}

export function buildSharedPlanData({
  artifacts,
  heldUpgrade,
}: Pick<Lock, 'artifacts' | 'heldUpgrade'>): SharedPlanData {
  const texts = new Map<string, string>()
  return {
    locked: indexArtifacts(artifacts),
    held: indexArtifacts(heldUpgrade?.artifacts ?? []),
    yaml: (document) => {
      const key = JSON.stringify(document)
      const text = texts.get(key) ?? stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
      texts.set(key, text)
      return text
    },
  }
}

function indexArtifacts(artifacts: readonly LockedArtifact[]): ReadonlyMap<string, LockedArtifact> {
  return new Map(artifacts.map((artifact) => [artifactId(artifact), artifact]))
}
