import type { WindowsNetwork } from '../../../contract/windows-network.ts'
import type { WindowsFirewallRuleSpec } from '../operations/firewall.ts'
import type { WindowsServiceSpec } from '../operations/services.ts'

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

/** Desired state of a Windows worker, limited to what can change without hyperkube. */
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
