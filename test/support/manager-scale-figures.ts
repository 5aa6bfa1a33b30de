import type { ProcessCost } from './manager-process.ts'

/** Measurements of one manager at one node count. Times are in milliseconds. */
export interface ManagerFigures extends ProcessCost {
  readonly sync: number
  /** Time from each change to its effect. */
  readonly latencies: readonly number[]
}

export interface ScaleStep {
  readonly nodes: number
  readonly pods: number
  readonly own: ManagerFigures
  readonly upstream: ManagerFigures
}

/**
 * Returns a percentile: with a `share` of 0.9, the smallest value that at least 90 % of all values do not
 * exceed.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export interface Growth {
  readonly what: string
  /**
   * Growth factors of one cost from the smallest to the largest cluster, for hyperkube's and Kubernetes'
   * manager.
   */
  readonly own: number
  readonly upstream: number
}

const costs: readonly (readonly [what: string, cost: (figures: ManagerFigures) => number])[] = [
  ['time to sync', ({ sync }) => sync],
  ['memory', ({ resident }) => resident],
  ['peak of memory', ({ peak }) => peak],
  ['CPU at rest', ({ cpuShare }) => cpuShare],
  ['latency, 99th percentile', ({ latencies }) => percentile(latencies, 0.99)],
]

/** Computes how costs grew from the first step to the last. */
export function computeGrowth(first: ScaleStep, last: ScaleStep): Growth[] {
  return costs.map(([what, cost]) => ({
    what,
    own: cost(last.own) / cost(first.own),
    upstream: cost(last.upstream) / cost(first.upstream),
  }))
}

/** True if a cost grew at most 1.5 times as much as the cluster. */
export function isLinear(cost: number, size: number): boolean {
  return cost <= 1.5 * size
}
