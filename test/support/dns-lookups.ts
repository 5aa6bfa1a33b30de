/** One lookup of a name, by when it was begun. */
export interface Lookup {
  readonly at: number
  readonly well: boolean
}

/** As a pod has written them down, a line for each. */
export function readLookups(text: string): Lookup[] {
  return text.split('\n').flatMap((line) => {
    const [, at, how] = /^(\d+) (well|failed)$/.exec(line) ?? []
    return at === undefined ? [] : [{ at: Number(at), well: how === 'well' }]
  })
}

export interface LostNode {
  readonly date: Date
  readonly hyperkube: string
  readonly kubernetes: string
  readonly node: string
  /** That looked. */
  readonly pods: number
  readonly lookups: number
  readonly failed: readonly Lookup[]
  /** When the node was. */
  readonly lost: number
}

export function lostNodeText({
  date,
  hyperkube,
  kubernetes,
  node,
  pods,
  lookups,
  failed,
  lost,
}: LostNode): string {
  const seconds = failed.map(({ at }) => Math.max(0, at - lost) / 1000)
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
