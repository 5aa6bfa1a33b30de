import type { Host } from '../../lab/hosts/host.ts'
import type { HealScene } from './heal-cluster.ts'

/** The eight that a Kubernetes node is made of. */
export const components = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'containerd',
  'kubelet',
  'kube-proxy',
  'flanneld',
] as const
export type Component = (typeof components)[number]

/**
 * What is to become of a fault. `heals`: nobody does anything. `refuses`: to act would risk data, or takes what no host has;
 * an operator types what they are told. `waits-for-world`: the fault is not of the cluster, and when it is over the cluster
 * is well by itself.
 */
export type Expectation = 'heals' | 'refuses' | 'waits-for-world'

/** One fault, and what must come of it. */
export interface HealRow {
  readonly id: string
  /** For people. */
  readonly what: string
  readonly expects: Expectation
  /** Hosts on which it happens, one in each run, in turns. */
  readonly hosts: readonly string[]
  readonly runs: number
  /**
   * What `doctor` says first while it lasts: one of these. None: it is over before anybody could ask, or nobody needs to be
   * told.
   */
  readonly codes: readonly string[]
  /** Of whom that is said, where it must be said of somebody. */
  readonly component?: string
  /** Whether it is a fault of more than one host, which may be said of any. */
  readonly anywhere?: true
  /** Milliseconds until it has healed: from the fault on, or from when the world was well again. */
  readonly within: number
  /** Milliseconds that it lasts at least, before the world is well again. */
  readonly lasts?: number
  /** Where requests come from: the faulty host itself, when it is a worker, or another one, because the host is off. */
  readonly clients: 'there' | 'elsewhere'
  /** Whether no service of any host may begin anew meanwhile. */
  readonly untouched?: true
  /** Whether it is also tried without agents. */
  readonly alone: boolean
  /** About how many seconds one run takes, with all that is around it. */
  readonly seconds: number
  /** Fails when the fault did not bite. */
  inject(scene: HealScene, host: Host): Promise<void>
  /** Mends by hand whatever is left of it. It always runs, also when nothing is left, and when nothing was done. */
  undo(scene: HealScene, host: Host): Promise<void>
  /** Whether all works that the fault has hurt, as it is seen from outside. */
  healed(scene: HealScene, host: Host): Promise<boolean>
}

export interface Selection {
  /** Ids with commas between; all when there are none. */
  readonly rows: string | undefined
  /** How often each, instead of how often it says itself. */
  readonly runs: string | undefined
}

/** The rows that are wished for, in the order of the table. Whoever names one that is not there hears of it. */
export function selectRows<T extends Pick<HealRow, 'id' | 'runs'>>(
  rows: readonly T[],
  { rows: wished, runs }: Selection,
): T[] {
  const ids = (wished ?? '').split(',').filter((id) => id !== '')
  const strange = ids.filter((id) => !rows.some((row) => row.id === id))
  if (strange.length > 0) throw new Error(`there is no row ${strange.join(', ')}`)
  const often = runs === undefined ? undefined : Number(runs)
  if (often !== undefined && !(Number.isInteger(often) && often > 0)) {
    throw new Error(`"${runs}" is not how often`)
  }
  return rows
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map((row) => ({ ...row, runs: often ?? row.runs }))
}

/** Where the runs of a row happen. */
export function turns({ hosts, runs }: Pick<HealRow, 'hosts' | 'runs'>): string[] {
  return Array.from({ length: runs }, (_, index) => hosts[index % hosts.length] ?? '')
}

export const controlPlanes = ['cp1', 'cp2', 'cp3'] as const
export const workers = ['w1', 'w2'] as const
/** For what runs on every node: workers more often, because there it hurts. */
export const everyNode = ['w1', 'cp2', 'w2', 'cp3', 'w1'] as const

/** Where a component is tried. */
export function hostsOf(component: Component): readonly string[] {
  const ofControlPlanes = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']
  return ofControlPlanes.includes(component) ? controlPlanes : everyNode
}
