/** Result of one name lookup, and its start time in milliseconds since 1970. */
export interface Lookup {
  readonly at: number
  readonly ok: boolean
}

/** Parses the log of lookups that a pod wrote. */
export function parseLookups(text: string): Lookup[] {
  return text.split('\n').flatMap((line) => {
    const [, at, outcome] = /^(\d+) (well|failed)$/.exec(line) ?? []
    return at === undefined ? [] : [{ at: Number(at), ok: outcome !== 'failed' }]
  })
}

export interface LostNode {
  readonly date: Date
  readonly hyperkube: string
  readonly kubernetes: string
  readonly node: string
  /** Number of pods that looked up names. */
  readonly pods: number
  readonly lookups: number
  readonly failed: readonly Lookup[]
  /** Time at which the node was lost. */
  readonly lostAt: number
}

export function formatLostNodeEvidence({
  date,
  hyperkube,
  kubernetes,
  node,
  pods,
  lookups,
  failed,
  lostAt,
}: LostNode): string {
  const seconds = failed.map(({ at }) => Math.max(0, at - lostAt) / 1000)
  const when =
    seconds.length === 0
      ? 'None failed.'
      : `The first that failed was begun ${Math.min(...seconds).toFixed(1)} s after the loss, the last ${Math.max(...seconds).toFixed(1)} s after it.`
  return `# Names, when a node with CoreDNS is lost

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, three control planes and two workers.

${node}, on which one of two pods of CoreDNS ran, was gone from one moment to the next. On each of the ${pods} other nodes a pod
went on to look up the name of a service, five times a second and as a program does that asks again once by itself.

| lookups | failed |
|---|---|
| ${lookups} | ${failed.length} |

${when}
`
}
