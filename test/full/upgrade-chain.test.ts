import { writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listHostNames, parseShape } from '../../lab/cluster/shape.ts'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import { openFreshLab } from '../support/lab.ts'
import { listChain, listChainParts } from '../support/upgrade-chain.ts'
import { runHyperkubeUpgrade, type UpgradeResult } from '../support/upgrade-comparison.ts'
import { VersionSamples } from '../support/version-samples.ts'

const shape = process.env['UPGRADE_SHAPE'] ?? '3+2'
const chain = listChain(process.env['UPGRADE_FROM'] ?? 'v1.32.5')
const [from] = chain
const to = chain.at(-1) ?? from
const workers = listHostNames(parseShape(shape)).filter((name) => name.startsWith('w'))
/**
 * Minimum number of drains per worker. Workers are upgraded when the next minor would exceed the skew of
 * three minors, and at the end.
 */
const fewestDrains = Math.ceil((chain.length - 1) / 3)
const evidence = join(import.meta.dirname, '../../docs/evidence/upgrade-chain.md')

test(
  `${from} to ${to} in one command on ${shape} under load: no request fails, and workers are drained ${fewestDrains} times`,
  { timeout: 3_600_000 },
  async ({ signal }) => {
    const lab = await openFreshLab('upgrade-chain')
    try {
      let samples: VersionSamples | undefined
      const result = await runHyperkubeUpgrade({
        ...{ lab, shape, from, to, signal },
        parts: listChainParts(chain),
        observe(api) {
          const opened = new VersionSamples(api)
          samples = opened
          return async () => opened.stop()
        },
      })
      const steps = new Map(workers.map((name) => [name, samples?.listKubeletVersions(name) ?? []]))
      await writeFile(evidence, formatEvidence(result, steps))
      const { figures, versions, output } = result
      expect(versions).toEqual([`etcd ${selectVersions(to).etcd}`, `kube-apiserver ${to}`, `kubelet ${to}`])
      expect(samples?.findSkewViolations()).toEqual([])
      for (const [name, kubelets] of steps) expect(kubelets, name).toHaveLength(fewestDrains + 1)
      for (const version of chain.slice(1)) expect(output).toContain(`-before-${version.slice(1)}-`)
      expect(figures.api.failed).toEqual([])
      expect(figures.service.failed).toEqual([])
      expect(figures.writes.refused).toBe(0)
      expect(figures.lost).toEqual([])
    } finally {
      await lab.down()
    }
  },
)

function formatEvidence(
  { figures, seconds, restarted, versions, output }: UpgradeResult & { readonly output: string },
  kubelets: ReadonlyMap<string, readonly string[]>,
): string {
  const { api, service, writes, lost } = figures
  const count = (value: number): string => value.toLocaleString('en')
  const plan = output
    .split('\n')
    .filter((line) => /^upgrade of |^ {2}(?:\d+\. control planes|drains|snapshots)/.test(line))
  return `# An upgrade across minors, under load

Written by \`test/full/upgrade-chain.test.ts\` on ${new Date().toISOString().slice(0, 10)}: \`hyperkube upgrade --to ${to.slice(1)} --yes\` on a cluster of
Kubernetes ${from.slice(1)}, ${shape} hosts of the lab. All hosts, their clients and the load share one machine. This run covers
${chain.map((version) => version.slice(1)).join(', ')}${chain.length < 6 ? '; older minors of the catalog were not part of it' : ''}.

The command printed this plan before the first change:

\`\`\`text
${plan.join('\n')}
\`\`\`

| | |
|---|---|
| time, with snapshots and their test restores | ${seconds.toFixed(0)} s |
| API requests at 50/s | ${count(api.requests)} |
| – failed | ${count(api.failed.length)} |
| – sent again by their clients | ${count(api.retried)} |
| – slowest that was not throttled | ${count(api.worst)} ms |
| – longest gap of a watch | ${count(api.watchGap)} ms |
| requests to a service at 100/s | ${count(service.requests)} |
| – failed | ${count(service.failed.length)} |
| – slowest | ${count(service.worst)} ms |
| counted writes at 5/s, acknowledged | ${count(writes.acknowledged.length)} |
| – refused | ${count(writes.refused)} |
| – acknowledged and lost | ${count(lost.length)} |
| restarts of the service's containers in their place | ${count(restarted)} |
| load average of the machine's ${availableParallelism()} cores over 15 minutes, at the end | ${loadavg()[2]?.toFixed(0)} |
| versions at the end | ${versions.join(', ')} |
${[...kubelets].map(([name, list]) => `| kubelets of ${name} | ${list.join(', then ')} |`).join('\n')}

No kubelet was newer than an API server or more than three minors older, in samples taken every second.
`
}
