import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { BusyFigures } from '../support/busy-cluster.ts'
import { openFreshLab } from '../support/lab.ts'
import {
  runHyperkubeUpgrade,
  runKubeadmUpgrade,
  type UpgradeOptions,
  type UpgradeResult,
} from '../support/upgrade-comparison.ts'

const shape = process.env['UPGRADE_SHAPE'] ?? '3+2'
const [from, to] = ['v1.36.4', 'v1.37.1'] as const
const evidence = join(import.meta.dirname, `../../docs/evidence/upgrade-beside-${shape}.md`)
/**
 * Maximum duration of an API request. There is no limit with one control plane, because requests wait until
 * it has restarted.
 */
const maxRequestMs = shape.startsWith('1+') ? Infinity : 2000
const testOptions = { timeout: 3_600_000 }
const upgraded = ['etcd v3.7.3', `kube-apiserver ${to}`, `kubelet ${to}`]

describe(`an upgrade from ${from} to ${to} under load, ${shape}`, () => {
  const results = new Map<string, UpgradeResult>()
  afterAll(async () => {
    const [hyperkube, kubeadm] = [results.get('hyperkube'), results.get('kubeadm')]
    if (hyperkube === undefined || kubeadm === undefined) return
    await writeFile(evidence, formatUpgradeEvidence(hyperkube, kubeadm))
  })

  async function runUpgrade(
    name: string,
    upgrade: (options: UpgradeOptions) => Promise<UpgradeResult>,
    signal: AbortSignal,
  ): Promise<UpgradeResult> {
    const lab = await openFreshLab(`upgrade-${name}`)
    try {
      const result = await upgrade({ lab, shape, from, to, signal })
      results.set(name, result)
      return result
    } finally {
      await lab.down()
    }
  }

  test('by hyperkube: no request fails', testOptions, async ({ signal }) => {
    const { figures, versions } = await runUpgrade('hyperkube', runHyperkubeUpgrade, signal)
    expect(versions).toEqual(upgraded)
    expect(figures.api.failed).toEqual([])
    expect(figures.api.worst).toBeLessThanOrEqual(maxRequestMs)
    expect(figures.service.failed).toEqual([])
    expect(figures.writes.refused).toBe(0)
    expect(figures.lost).toEqual([])
  })

  test('by kubeadm: it succeeds, and failed requests are recorded', testOptions, async ({ signal }) => {
    const { versions } = await runUpgrade('kubeadm', runKubeadmUpgrade, signal)
    expect(versions).toEqual(upgraded)
  })
})

/** Renders both results of the same upgrade for docs/evidence. */
function formatUpgradeEvidence(hyperkube: UpgradeResult, kubeadm: UpgradeResult): string {
  return `# An upgrade under load, by hyperkube and by kubeadm, ${shape}

Written by \`test/full/upgrade-beside.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${from} to ${to}, ${shape} hosts of the lab, one cluster
after the other on the same machine, whose cores all hosts, their clients and the load share. Versions at the end:
${hyperkube.versions.join(', ')} with hyperkube, and ${kubeadm.versions.join(', ')} with kubeadm.
Compare columns with each other, not with other machines.

The load is the same: 50 API requests a second and five counted writes a second through hyperkube's own proxy at 127.0.0.1 of
the last worker, and 100 requests a second from there to a service of four pods, three of which must be available. A client
sends an API request once more before it counts as failed, and one to the service never.

| | hyperkube | kubeadm |
|---|---|---|
${rows.map(([title, value]) => `| ${title} | ${value(hyperkube)} | ${value(kubeadm)} |`).join('\n')}

*hyperkube*: \`hyperkube upgrade --to ${to.slice(1)} --yes\`, from the command to its end. Downloads from the lab's mirror, a snapshot
of etcd, and all waits and checks count.

*kubeadm*: as in upstream's documentation, one node at a time, control planes first: \`kubeadm upgrade apply\` or \`node\`,
\`kubectl drain\`, the new kubelet, and \`kubectl uncordon\` once the node and the cluster's own pods on it are Ready. Programs and
images were on every host before the clock started, and commands ran without pauses; failed commands were run again
three seconds later. Its nodes and kubectl reach the API through hyperkube's proxy too, one on each host, which is never
restarted: kubeadm has no proxy.

## What failed with hyperkube

${formatReasons(hyperkube.figures)}

## What failed with kubeadm

${formatReasons(kubeadm.figures)}
`
}

const formatCount = (value: number): string => value.toLocaleString('en')

const rows: readonly (readonly [string, (result: UpgradeResult) => string])[] = [
  ['time', ({ seconds }) => `${seconds.toFixed(0)} s`],
  ['API requests', ({ figures }) => formatCount(figures.api.requests)],
  ['– failed', ({ figures }) => formatCount(figures.api.failed.length)],
  ['– sent again by their clients', ({ figures }) => formatCount(figures.api.retried)],
  ['– throttled', ({ figures }) => formatCount(figures.api.throttled)],
  ['– slowest that was not throttled', ({ figures }) => `${formatCount(figures.api.worst)} ms`],
  ['– longest gap of a watch', ({ figures }) => `${formatCount(figures.api.watchGap)} ms`],
  ['requests to the service', ({ figures }) => formatCount(figures.service.requests)],
  ['– failed', ({ figures }) => formatCount(figures.service.failed.length)],
  ['– slowest', ({ figures }) => `${formatCount(figures.service.worst)} ms`],
  ['writes acknowledged', ({ figures }) => formatCount(figures.writes.acknowledged.length)],
  ['– refused, twice', ({ figures }) => formatCount(figures.writes.refused)],
  ['– acknowledged and lost', ({ figures }) => formatCount(figures.lost.length)],
  ["restarts of the service's containers in their place", ({ restarted }) => formatCount(restarted)],
]

/** Formats the five most frequent errors of the load, with their counts. */
function formatReasons({ api, service }: BusyFigures): string {
  const all = [
    ...api.failed.map((message) => `API: ${message}`),
    // Removes the time at the start of the message.
    ...service.failed.map((message) => `service: ${message.replace(/^\S+ /, '')}`),
  ].map((message) => message.replaceAll(/\s+/g, ' ').slice(0, 200))
  const times = Map.groupBy(all, (message) => message)
  const lines = [...times]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, 5)
    .map(([message, messages]) => `- ${messages.length} × ${message}`)
  return lines.length === 0 ? 'Nothing.' : lines.join('\n')
}
