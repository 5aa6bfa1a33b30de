import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type ConformanceReport, conformanceReportFormat } from '../../src/conformance/report.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { UpCluster } from './up-cluster.ts'

export const conformanceTestList = join(import.meta.dirname, 'conformance-thirty.txt')

/**
 * Expects that `conformance --list` lists upstream’s conformance tests. The mirror of the cluster must have
 * the test suite.
 */
export async function expectTestsListed(cluster: UpCluster): Promise<void> {
  const { operator } = cluster
  const { stdout, stderr } = await operator.must(0, 'conformance', '--list')
  expect(stderr).toContain('kubernetes-test-linux-amd64.tar.gz')
  expect(stdout.trim().split('\n')).toHaveLength(462)
  const filtered = await operator.must(0, 'conformance', '--list', '--without-image', 'kitten')
  expect(filtered.stdout.split('\n').length).toBeLessThan(463)
  expect(filtered.stderr, 'it is kept').not.toContain('downloading')
}

/** Expects that thirty tests pass, by default those of the newest minor. Returns the report. */
export async function expectThirtyTestsPass(
  cluster: UpCluster,
  { kubernetes = 'v1.37.1', list = conformanceTestList } = {},
): Promise<ConformanceReport> {
  const directory = join(cluster.directory, 'thirty')
  const { stdout } = await cluster.operator.must(
    0,
    ...['conformance', '--only', list, '--parallel', '3', '--report', directory, '-o', 'json'],
  )
  const report = readVersioned<ConformanceReport>(conformanceReportFormat, JSON.parse(stdout))
  process.stderr.write(`conformance: ${report.counts.passed} passed in ${report.seconds.toFixed(0)} s\n`)
  expect(report.counts).toEqual({ chosen: 30, ran: 30, passed: 30, failed: 0, skipped: 0, leftOut: 0 })
  expect(report.versions.kubernetes).toBe(kubernetes)
  // Three directories belong to parallel processes, and one to the tests that must run alone.
  expect(await readdir(directory)).toEqual(['1', '2', '3', '4', 'report.json'])
  const logs = ['1', '2', '3', '4'].map(async (part) => readFile(join(directory, part, 'e2e.log'), 'utf8'))
  for (const log of await Promise.all(logs)) expect(log).toMatch(/ [1-9]\d* Passed \| 0 Failed/)
  await expectNoTraces(cluster)
  return report
}

/**
 * Writes a file with the names that the thirty tests have in the suite of the cluster's version, and returns
 * its path. Suites of older minors have the same tests, but their labels are in another order.
 */
export async function writeThirtyTestList({ operator, directory }: UpCluster): Promise<string> {
  const { stdout } = await operator.must(0, 'conformance', '--list')
  const byKey = new Map(stdout.split('\n').map((name) => [toTestKey(name), name]))
  const lines = (await readFile(conformanceTestList, 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('['))
  const names = lines.map((line) => byKey.get(toTestKey(line)) ?? line)
  const file = join(directory, 'thirty.txt')
  await writeFile(file, `${names.join('\n')}\n`)
  return file
}

/**
 * Returns the group of a test name, such as [sig-apps], and its words without labels such as [Conformance].
 */
function toTestKey(name: string): string {
  const [group = ''] = /^\[[\w-]+\]/.exec(name) ?? []
  return `${group} ${name
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .split(/\s+/)
    .join(' ')
    .trim()}`
}

/** Fails if the tests left temporary files or namespaces. */
export async function expectNoTraces({ api, directory }: UpCluster): Promise<void> {
  const { birthtimeMs: createdAt } = await stat(directory)
  const found = (await readdir(tmpdir())).filter((name) => name.startsWith('hyperkube-conformance-'))
  const ages = await settleAll(found.map(async (name) => stat(join(tmpdir(), name))))
  // Files that other runs left earlier do not count.
  expect(found.filter((_, index) => (ages[index]?.birthtimeMs ?? 0) > createdAt)).toEqual([])
  await pollUntil(
    'the namespaces of tests to be gone',
    async () => {
      const { items } = await api.get<{
        items: { metadata: { labels?: Record<string, string> } }[]
      }>('/api/v1/namespaces')
      return items.every(({ metadata }) => !('e2e-framework' in (metadata.labels ?? {})))
    },
    { timeoutMs: 120_000, intervalMs: 1000 },
  )
}
