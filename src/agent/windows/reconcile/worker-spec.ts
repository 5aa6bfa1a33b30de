import type { WindowsNetwork } from '../../../contract/windows-network.ts'
import type { WindowsFirewallRuleSpec } from '../operations/firewall.ts'
import type { WindowsServiceSpec } from '../operations/services.ts'

/** Programs of a node in dependency order. */
export const nodeRoles = ['containerd', 'kubelet', 'flanneld', 'kube-proxy'] as const
export type NodeRole = (typeof nodeRoles)[number]

/** All programs including apiserver-proxy, which the others except containerd use. */
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

/** Desired state of a Windows worker, as far as it can drift by itself. */
export interface WorkerSpec {
  /** The address by which others know the host. Its adapter is the one that has this address. */
  readonly address: string
  /** Services that are installed so far. */
  readonly services: Readonly<Partial<Record<WorkerRole, WorkerServiceSpec>>>
  /** Group of hyperkube's firewall rules. Rules of other groups belong to others. */
  readonly group: string
  readonly firewall: readonly Omit<WindowsFirewallRuleSpec, 'group'>[]
  /** Metadata addresses of the cloud. The first network on an adapter removes their routes. */
  readonly metadata: readonly string[]
  /** Undefined if another plugin manages the pod network. */
  readonly overlay?: WindowsNetwork['overlay']
}
