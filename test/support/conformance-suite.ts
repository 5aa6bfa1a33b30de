import { readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ConformanceReport, reportFormat } from '../../src/conformance/report.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import type { UpCluster } from './up-cluster.ts'

export const thirty = join(import.meta.dirname, 'conformance-thirty.txt')

/** That a cluster is one, as far as thirty of upstream's own tests can tell. Its mirror must have the suite. */
export function conformanceSuite(clusterNow: () => UpCluster): void {
  test('upstream’s suite is fetched from the mirror, and says its tests', { timeout: 300_000 }, async () => {
    const { operator } = clusterNow()
    const { stdout, stderr } = await operator.must(0, 'conformance', '--list')
    expect(stderr).toContain('kubernetes-test-linux-amd64.tar.gz')
    expect(stdout.trim().split('\n')).toHaveLength(462)
    const without = await operator.must(0, 'conformance', '--list', '--without-image', 'kitten')
    expect(without.stdout.split('\n').length).toBeLessThan(463)
    expect(without.stderr, 'it is kept').not.toContain('downloading')
  })

  test('thirty conformance tests of all kinds pass', { timeout: 1_200_000 }, async () => {
    const cluster = clusterNow()
    const directory = join(cluster.directory, 'thirty')
    const { stdout } = await cluster.operator.must(
      0,
      ...['conformance', '--only', thirty, '--parallel', '3', '--report', directory, '-o', 'json'],
    )
    const report = readVersioned<ConformanceReport>(reportFormat, JSON.parse(stdout))
    process.stderr.write(`conformance: ${report.counts.passed} passed in ${report.seconds.toFixed(0)} s\n`)
    expect(report.counts).toEqual({ chosen: 30, ran: 30, passed: 30, failed: 0, skipped: 0, leftOut: 0 })
    expect(report.versions.kubernetes).toBe('v1.37.1')
    // Three that share them, and one for those that run alone.
    expect(await readdir(directory)).toEqual(['1', '2', '3', '4', 'report.json'])
    const logs = ['1', '2', '3', '4'].map(async (part) => readFile(join(directory, part, 'e2e.log'), 'utf8'))
    for (const log of await Promise.all(logs)) expect(log).toMatch(/ [1-9]\d* Passed \| 0 Failed/)
    await expectNoTraces(cluster)
  })
}

/** Neither a key in a file, nor a namespace in the cluster. */
export async function expectNoTraces({ api, directory }: UpCluster): Promise<void> {
  const { birthtimeMs: begun } = await stat(directory)
  const found = (await readdir(tmpdir())).filter((name) => name.startsWith('hyperkube-conformance-'))
  const ages = await settleAll(found.map(async (name) => stat(join(tmpdir(), name))))
  // What others have left there before is not ours.
  expect(found.filter((_, index) => (ages[index]?.birthtimeMs ?? 0) > begun)).toEqual([])
  await until(
    'the namespaces of tests to be gone',
    async () => {
      const { items } = await api.get<{
        items: { metadata: { labels?: Record<string, string> } }[]
      }>('/api/v1/namespaces')
      return items.every(({ metadata }) => !('e2e-framework' in (metadata.labels ?? {})))
    },
    { within: 120_000, every: 1000 },
  )
}
