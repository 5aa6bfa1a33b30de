import type { Host } from '../../lab/hosts/host.ts'
import type { HealCluster } from './heal-cluster.ts'

/** The eight components of a Kubernetes node. */
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
 * Expected result of a fault. `heals`: without an operator. `refuses`: acting would risk data or needs
 * something no host has, so an operator runs the command of `doctor`. `waits-for-recovery`: the cause is
 * outside the cluster; the cluster recovers when it ends.
 */
export type Expectation = 'heals' | 'refuses' | 'waits-for-recovery'

/** One fault and its expected result. */
export interface HealRow {
  readonly id: string
  /** Title for people. */
  readonly what: string
  readonly expects: Expectation
  /** Hosts of the runs, used in turn. */
  readonly hosts: readonly string[]
  readonly runs: number
  /**
   * Codes of which `doctor` must report one first while the fault lasts. Empty if the fault is too short, or
   * needs no report.
   */
  readonly codes: readonly string[]
  /** Component that the finding must name, if any. */
  readonly component?: string
  /** True if the fault affects several hosts, and the finding may name any of them. */
  readonly onAnyHost?: true
  /** Milliseconds until it must be healed, from the fault or from the end of its cause. */
  readonly timeoutMs: number
  /** Minimum duration in milliseconds, before the cause ends. */
  readonly minDurationMs?: number
  /**
   * Where requests come from: the faulty host itself if it is a worker, or another host because this one is
   * off.
   */
  readonly clients: 'there' | 'elsewhere'
  /** True if no service of any host may restart meanwhile. */
  readonly expectNoRestarts?: true
  /** True if the fault is also run without agents. */
  readonly runWithoutAgents: boolean
  /** Approximate duration of one run in seconds, with preparation. */
  readonly seconds: number
  /** Fails if the fault has no effect. */
  inject(cluster: HealCluster, host: Host): Promise<void>
  /** Repairs by hand what is left of the fault. It always runs, even if nothing is left. */
  undo(cluster: HealCluster, host: Host): Promise<void>
  /** True if everything that the fault affected works, as seen from outside. */
  isHealed(cluster: HealCluster, host: Host): Promise<boolean>
}

export interface RowSelection {
  /** Comma-separated ids; all if empty. */
  readonly rows: string | undefined
  /** Number of runs of each row, instead of its own. */
  readonly runs: string | undefined
}

/** Selects rows in the order of the table. Throws for an unknown id. */
export function selectRows<T extends Pick<HealRow, 'id' | 'runs'>>(
  rows: readonly T[],
  { rows: requested, runs }: RowSelection,
): T[] {
  const ids = (requested ?? '').split(',').filter((id) => id !== '')
  const unknownIds = ids.filter((id) => !rows.some((row) => row.id === id))
  if (unknownIds.length > 0) throw new Error(`there is no row ${unknownIds.join(', ')}`)
  const runCount = runs === undefined ? undefined : Number(runs)
  if (runCount !== undefined && !(Number.isInteger(runCount) && runCount > 0)) {
    throw new Error(`"${runs}" is not a number of runs`)
  }
  return rows
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map((row) => ({ ...row, runs: runCount ?? row.runs }))
}

/** Returns the host of each run of a row. */
export function assignHosts({ hosts, runs }: Pick<HealRow, 'hosts' | 'runs'>): string[] {
  return Array.from({ length: runs }, (_, index) => hosts[index % hosts.length] ?? '')
}

export const controlPlanes = ['cp1', 'cp2', 'cp3'] as const
export const workers = ['w1', 'w2'] as const
/** For components of every node: workers more often, because faults there affect pods. */
export const everyNode = ['w1', 'cp2', 'w2', 'cp3', 'w1'] as const

/** Hosts on which a component is tested. */
export function selectHosts(component: Component): readonly string[] {
  const controlPlaneComponents = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']
  return controlPlaneComponents.includes(component) ? controlPlanes : everyNode
}
