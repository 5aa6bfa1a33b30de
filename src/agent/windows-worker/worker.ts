import type { WindowsNetwork } from '../../contract/windows-network.ts'
import type { FirewallRule, WindowsFirewallRuleSpec } from '../host/windows-operations/firewall.ts'
import type { Adapter, HnsNetwork, WindowsRoute } from '../host/windows-operations/network.ts'
import type { ServiceState, WindowsServiceSpec } from '../host/windows-operations/services.ts'
import type { WindowsProcess } from '../host/windows-operations/system.ts'

/** Programs of a node in dependency order. */
export const nodeRoles = ['containerd', 'kubelet', 'flanneld', 'kube-proxy'] as const
export type NodeRole = (typeof nodeRoles)[number]

/** All programs of a worker. All but containerd reach the API through apiserver-proxy. */
export const workerRoles = ['apiserver-proxy', ...nodeRoles] as const
export type WorkerRole = (typeof workerRoles)[number]

export interface WorkerProgramSpec {
  readonly path: string
  readonly sha256: string
}

export interface WorkerServiceSpec {
  readonly service: WindowsServiceSpec
  readonly program: WorkerProgramSpec
}

/** Desired state of a Windows worker. It contains only what can change without an action of hyperkube. */
export interface WorkerSpec {
  /** Address of the host. It also identifies the adapter to use. */
  readonly address: string
  /** Specs of the services that are already installed. */
  readonly services: Readonly<Partial<Record<WorkerRole, WorkerServiceSpec>>>
  /** Group of hyperkube's firewall rules. Rules of other groups belong to other software. */
  readonly group: string
  readonly firewall: readonly Omit<WindowsFirewallRuleSpec, 'group'>[]
  /**
   * Metadata addresses of the cloud provider. Creating the first network on an adapter removes the routes to
   * them.
   */
  readonly metadata: readonly string[]
  /** Undefined if another network plugin manages the pod network. */
  readonly overlay?: WindowsNetwork['overlay']
}

/** Digests of a program, its staged copy and its previous version; undefined if the file does not exist. */
export interface ProgramObservation {
  readonly target: string | undefined
  readonly staged: string | undefined
  readonly previous: string | undefined
}

/** One observation of a host. */
export interface WorkerObservation {
  readonly services: ReadonlyMap<string, ServiceState>
  /** Programs that report that they are healthy. */
  readonly ready: ReadonlySet<WorkerRole>
  /** Running programs that failed their probes often enough to count as unhealthy. */
  readonly unhealthy: ReadonlySet<WorkerRole>
  readonly programs: Readonly<Partial<Record<WorkerRole, ProgramObservation>>>
  readonly adapters: readonly Adapter[]
  readonly routes: readonly WindowsRoute[]
  readonly rules: readonly FirewallRule[]
  /** Undefined while HNS does not respond. */
  readonly networks: readonly HnsNetwork[] | undefined
  /** Pod subnet of the host; undefined until its Node exists and has a subnet. */
  readonly subnet: string | undefined
  /** Reserved source address of kube-proxy, if there is one. */
  readonly sourceAddress: string | undefined
  /** Processes of the services that do not run or are not ready; other services are not inspected. */
  readonly processes: readonly WindowsProcess[]
}

/** What the agent remembers about its steps. If this state is lost, some steps are repeated unnecessarily. */
export interface ReconcileState {
  /** Recent attempts of each step (key: step key). Their number determines the backoff. */
  readonly tries: Readonly<Record<string, StepAttempt>>
  /** When each service was last started, and with which versions of its dependencies (`basis`). */
  readonly started: Readonly<Partial<Record<WorkerRole, { readonly basis: string; readonly at: number }>>>
  /** Time since which each service has been in the state Stop Pending. */
  readonly stopping: Readonly<Partial<Record<WorkerRole, number>>>
  /**
   * Cached digests of files, because reading a program takes seconds. A digest is valid while `stamp` is
   * unchanged.
   */
  readonly digests: Readonly<Record<string, { readonly stamp: string; readonly sha256: string }>>
  /**
   * Routes to metadata addresses from before the virtual switch was created. They are restored when hyperkube
   * is removed.
   */
  readonly routesBefore?: readonly string[] | undefined
}

export interface StepAttempt {
  readonly count: number
  readonly last: number
}

export const emptyReconcileState: ReconcileState = { tries: {}, started: {}, stopping: {}, digests: {} }
