import type { ProcessCost } from './manager-process.ts'

/** What one manager took at one size. Times are in milliseconds. */
export interface ManagerFigures extends ProcessCost {
  readonly sync: number
  /** From changes to what came of them. */
  readonly latencies: readonly number[]
}

export interface ScaleStep {
  readonly nodes: number
  readonly pods: number
  readonly own: ManagerFigures
  readonly upstream: ManagerFigures
}

/** The least value that so many of all are not above. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export interface Growth {
  readonly what: string
  /** How many times what it was at the smallest size. */
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

/** How costs have grown from the first step to the last one. */
export function growth(first: ScaleStep, last: ScaleStep): Growth[] {
  return costs.map(([what, cost]) => ({
    what,
    own: cost(last.own) / cost(first.own),
    upstream: cost(last.upstream) / cost(first.upstream),
  }))
}

/** Whether a cost has grown no more than sizes have, and half of that again. */
export function isLinear(cost: number, size: number): boolean {
  return cost <= 1.5 * size
}
