import type { ConnectionResult } from './probe-connections.ts'

/** Failures of one host: all connections that it cannot open, or all that cannot be opened to it. */
export interface FailureGroup {
  readonly side: 'from' | 'to'
  readonly host: string
  readonly results: readonly ConnectionResult[]
}

/**
 * Groups failures under as few hosts as possible: the firewall of one host is one problem, however many
 * connections fail. With equal sizes the target host wins, because packets are mostly dropped there.
 */
export function groupFailures(failures: readonly ConnectionResult[]): readonly FailureGroup[] {
  const failureGroups: FailureGroup[] = []
  let rest = failures
  while (rest.length > 0) {
    const largest = [...groupBySide(rest, 'to'), ...groupBySide(rest, 'from')].reduce((best, group) =>
      group.results.length > best.results.length ? group : best,
    )
    failureGroups.push(largest)
    const explained = new Set(largest.results)
    rest = rest.filter((failure) => !explained.has(failure))
  }
  return failureGroups.toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

function groupBySide(
  failures: readonly ConnectionResult[],
  side: FailureGroup['side'],
): readonly FailureGroup[] {
  return [...Map.groupBy(failures, ({ connection }) => connection[side].host)]
    .map(([host, results]) => ({ side, host, results }))
    .toSorted((a, b) => (a.host < b.host ? -1 : 1))
}
