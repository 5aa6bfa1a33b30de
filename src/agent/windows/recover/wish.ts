import type { FirewallWish } from '../operations/firewall.ts'
import type { ServiceWish } from '../operations/services.ts'

/** Programs of a node, in the order in which one needs the other. */
export const roles = ['containerd', 'kubelet', 'flanneld', 'kube-proxy'] as const
export type Role = (typeof roles)[number]

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
  readonly services: Readonly<Record<Role, WorkerService>>
  /** Rules belong to whoever has made their group. */
  readonly group: string
  readonly firewall: readonly Omit<FirewallWish, 'group'>[]
  /** Where a cloud tells its machines about themselves: routes that the first network on an adapter takes away. */
  readonly metadata: readonly string[]
  /** A network that does nothing but keep the switch, so that flannel's may come and go without breaking connections. */
  readonly hold: {
    readonly name: string
    readonly subnet: string
    readonly gateway: string
    readonly vsid: number
  }
  /** The network of pods, which flannel makes. */
  readonly network: { readonly name: string; readonly type: 'overlay' }
}
