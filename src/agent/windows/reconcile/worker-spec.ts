import type { WindowsNetwork } from '../../../contract/windows-network.ts'
import type { FirewallWish } from '../operations/firewall.ts'
import type { ServiceWish } from '../operations/services.ts'

/** Programs of a node, in the order in which one needs the other. */
export const roles = ['containerd', 'kubelet', 'flanneld', 'kube-proxy'] as const
export type NodeRole = (typeof roles)[number]

/** With the way to the API, which all of them but the first take. */
export const allRoles = ['apiserver-proxy', ...roles] as const
export type Role = (typeof allRoles)[number]

export interface ProgramWish {
  readonly path: string
  readonly sha256: string
}

export interface WorkerService {
  readonly service: ServiceWish
  readonly program: ProgramWish
}

/** What a Windows worker shall be, as far as it can come apart by itself. */
export interface WorkerWish {
  /** The address by which others know the host; its adapter is the one that has it. */
  readonly address: string
  /** Those that the host shall have by now. */
  readonly services: Readonly<Partial<Record<Role, WorkerService>>>
  /** Rules belong to whoever has made their group. */
  readonly group: string
  readonly firewall: readonly Omit<FirewallWish, 'group'>[]
  /** Where a cloud tells its machines about themselves: routes that the first network on an adapter takes away. */
  readonly metadata: readonly string[]
  /** Without one, the network of pods is somebody else's. */
  readonly overlay?: WindowsNetwork['overlay']
}
