import type { Host } from '../../lab/hosts/host.ts'
import type { HealCluster } from './heal-cluster.ts'

/** The eight upstream components that run as services on a control plane. */
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
 * Expected result of a fault. `heals`: the cluster heals without an operator. `refuses`: agents do not act,
 * and an operator runs the command that `doctor` names. `waits-for-recovery`: the cause is outside the
 * cluster, which recovers when the cause ends.
 */
export type Expectation = 'heals' | 'refuses' | 'waits-for-recovery'

/** One fault and its expected result. */
export interface HealRow {
  readonly id: string
  /** Title in the evidence table. */
  readonly what: string
  readonly expects: Expectation
  /** Hosts on which the fault is injected, in turn. */
  readonly hosts: readonly string[]
  readonly runs: number
  /**
   * Doctor's first finding must have one of these codes while the fault lasts. Empty if the fault is too
   * short or needs no report.
   */
  readonly codes: readonly string[]
  /** Component that the finding must name, if any. */
  readonly component?: string
  /** True if the fault affects several hosts, and the finding may name any of them. */
  readonly onAnyHost?: true
  /** Maximum milliseconds until the fault is healed, from the fault or from the end of an external cause. */
  readonly timeoutMs: number
  /** Minimum duration of the fault in milliseconds, before its cause is removed. */
  readonly minDurationMs?: number
  /**
   * Host on which the clients run. `there`: the faulty host if it is a worker, else w2. `elsewhere`: another
   * worker, because the faulty host is unreachable.
   */
  readonly clients: 'there' | 'elsewhere'
  /**
   * True if services must not restart on any host during the fault. Restarts of services that lost their
   * lease are allowed and counted.
   */
  readonly expectNoRestarts?: true
  /** True if the fault is also injected while agents are stopped. */
  readonly runWithoutAgents: boolean
  /** Approximate duration of one run in seconds, including preparation. */
  readonly seconds: number
  /** Injects the fault. Throws if the fault has no effect. */
  inject(cluster: HealCluster, host: Host): Promise<void>
  /** Repairs what is left of the fault. Called after every run, even if the fault has healed. */
  undo(cluster: HealCluster, host: Host): Promise<void>
  /** True if everything that the fault affected works, as seen from outside. */
  isHealed(cluster: HealCluster, host: Host): Promise<boolean>
}

export interface RowSelection {
  /** Comma-separated ids of faults; all faults if empty. */
  readonly rows: string | undefined
  /** Number of runs of each fault, instead of `HealRow.runs`. */
  readonly runs: string | undefined
}

/** Selects faults by id, in the order of `rows`. Throws for an unknown id. */
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

/** Returns the host for each run of a fault. */
export function assignHosts({ hosts, runs }: Pick<HealRow, 'hosts' | 'runs'>): string[] {
  return Array.from({ length: runs }, (_, index) => hosts[index % hosts.length] ?? '')
}

export const controlPlanes = ['cp1', 'cp2', 'cp3'] as const
export const workers = ['w1', 'w2'] as const
/**
 * Hosts for components that every node has. Workers are listed more often, because faults there affect pods.
 */
export const everyNode = ['w1', 'cp2', 'w2', 'cp3', 'w1'] as const

/** Hosts on which a component is tested. */
export function selectHosts(component: Component): readonly string[] {
  const controlPlaneComponents = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']
  return controlPlaneComponents.includes(component) ? controlPlanes : everyNode
}
