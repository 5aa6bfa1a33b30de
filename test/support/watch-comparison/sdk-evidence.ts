import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatNumber } from '../evidence-units.ts'
import type { PackageCost } from './installed-package.ts'
import type { WatchFigures } from './watch-comparison.ts'

const file = join(import.meta.dirname, '../../../docs/evidence/sdk.md')

export interface ComparedClient {
  readonly cost: PackageCost
  readonly cuts: WatchFigures
  readonly halfOpen: WatchFigures
}

export interface SdkEvidence {
  readonly seed: number
  readonly timeLimitMs: number
  readonly kubernetes: string
  readonly etcd: string
  /** Size of the packed npm package in bytes. */
  readonly packedSize: number
  /** Longest time in milliseconds for which the test waited after a half-open connection. */
  readonly halfOpenTimeoutMs: number
  readonly hyperkube: ComparedClient
  readonly clientNode: ComparedClient
}

/** Writes docs/evidence/sdk.md. */
export async function writeSdkEvidence(evidence: SdkEvidence): Promise<void> {
  const { seed, timeLimitMs, kubernetes, etcd, packedSize, halfOpenTimeoutMs, hyperkube, clientNode } =
    evidence
  const row = (what: string, read: (client: ComparedClient) => string): string =>
    `| ${what} | ${read(hyperkube)} | ${read(clientNode)} |`
  const rows = [
    row('version', ({ cost }) => cost.version),
    row('installed packages, with itself', ({ cost }) => String(cost.packages)),
    row('size of the installed files', ({ cost }) => formatMegabytes(cost.size)),
    row('CPU time of the import, median of 5 processes', ({ cost }) => `${cost.importMs.toFixed(0)} ms`),
    row('connections cut', ({ cuts }) => formatNumber(cuts.cuts)),
    row('changes made meanwhile', ({ cuts }) => formatNumber(cuts.changes)),
    row('missed changes', ({ cuts }) => formatNumber(cuts.missed)),
    row('wrong reports', ({ cuts }) => formatNumber(cuts.wrong)),
    row('longest time until all changes were known', ({ cuts }) => formatWait(cuts.longestWaitMs)),
    row('connections that it opened', ({ cuts }) => formatNumber(cuts.connections)),
    row('heap before and after', ({ cuts }) => formatGrowth(cuts, 'heapUsed')),
    row('resident memory before and after', ({ cuts }) => formatGrowth(cuts, 'rss')),
    row('open sockets after', ({ cuts }) => String(cuts.after.sockets)),
    row('half-open connections', ({ halfOpen }) => String(halfOpen.cuts)),
    row('longest wait after one', ({ halfOpen }) =>
      halfOpen.longestWaitMs >= halfOpenTimeoutMs
        ? `more than ${halfOpenTimeoutMs / 1000} s: the test gave up`
        : formatWait(halfOpen.longestWaitMs),
    ),
    row('changes missed when the test ended', ({ halfOpen }) => formatNumber(halfOpen.missed)),
  ]
  await writeFile(
    file,
    `# hyperkube/kube beside @kubernetes/client-node

Written by \`npm run e2e:full -- test/full/watch-comparison.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Node ${process.versions.node}, kube-apiserver ${kubernetes}
and etcd ${etcd} on the loopback address, seed ${seed}. Both clients are installed from npm packages into empty projects, and each runs in its own
process. They watch 20 ConfigMaps through a proxy that cuts their connections while the objects change. \`hyperkube/kube\` uses \`Watch\`;
@kubernetes/client-node uses \`makeInformer\` and restarts it on errors, as its documentation shows, but after 20 ms instead of 5 s. The retry
interval of \`hyperkube/kube\` is 20 ms, too; everything else is the default of each package. The tests of both clients run at once on two cores that
other work shares, so compare times only within this page. Each test ends after 1,000 cuts or ${timeLimitMs / 60_000} minutes.

| | hyperkube/kube | @kubernetes/client-node |
|---|---|---|
${rows.join('\n')}

A missed change is one of which nothing was reported until the end, nor of a later change of the same object. A wrong report is an object that is
added twice, changed or deleted without being known, or an older version after a newer one. A half-open connection is one whose server side is
gone while the client is not notified, as after the loss of a gateway. \`hyperkube/kube\` notices it after 90 s without data, because API servers send a
bookmark every minute. This time is an option (\`idleTimeout\`).

The packed npm package of hyperkube has ${formatMegabytes(packedSize)}. It also contains the other entry points, and its dependencies are those of the whole
package: \`hyperkube/kube\` itself loads only zod and yaml. @kubernetes/client-node has clients for all kinds of the API, exec, port-forward and
logs, which \`hyperkube/kube\` does not have; @kubernetes/client-node has no work queue and no leader election.
`,
  )
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function formatWait(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

function formatGrowth({ before, after }: WatchFigures, part: 'heapUsed' | 'rss'): string {
  return `${formatMegabytes(before[part])}, ${formatMegabytes(after[part])}`
}
