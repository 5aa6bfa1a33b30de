import type { Observed } from './probe-connections.ts'

/** What one host has to do with: all that it does not reach, or all by whom it is not reached. */
export interface Fold {
  readonly side: 'from' | 'to'
  readonly host: string
  readonly observed: readonly Observed[]
}

/**
 * Puts failures together under as few hosts as can be: a firewall of one host is one matter, however many run against it.
 * Under equals it is the one that is looked for, because it is there that packets are mostly turned away.
 */
export function fold(failures: readonly Observed[]): readonly Fold[] {
  const folds: Fold[] = []
  let rest = failures
  while (rest.length > 0) {
    const largest = [...groups(rest, 'to'), ...groups(rest, 'from')].reduce((best, one) =>
      one.observed.length > best.observed.length ? one : best,
    )
    folds.push(largest)
    const explained = new Set(largest.observed)
    rest = rest.filter((failure) => !explained.has(failure))
  }
  return folds.toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

function groups(failures: readonly Observed[], side: Fold['side']): readonly Fold[] {
  return [...Map.groupBy(failures, ({ need }) => need[side].host)]
    .map(([host, observed]) => ({ side, host, observed }))
    .toSorted((a, b) => (a.host < b.host ? -1 : 1))
}
