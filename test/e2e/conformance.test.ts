import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConformanceReport, reportFormat } from '../../src/conformance/report.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { until } from '../../src/kit/until.ts'
import { type ConformanceCluster, conformanceCluster } from '../support/conformance-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const thirty = join(import.meta.dirname, '../support/conformance-thirty.txt')

describe('hyperkube conformance', () => {
  let opened: ConformanceCluster
  let cluster: UpCluster

  beforeAll(async () => {
    opened = await conformanceCluster('conformance')
    cluster = opened.cluster
  }, 1_200_000)
  afterAll(async () => opened[Symbol.asyncDispose]())

  test('fetches upstream’s suite from the mirror, and lists its tests', { timeout: 300_000 }, async () => {
    const { stdout, stderr } = await cluster.operator.must(0, 'conformance', '--list')
    expect(stderr).toContain('kubernetes-test-linux-amd64.tar.gz')
    expect(stdout.trim().split('\n')).toHaveLength(462)
    for (const image of ['nginx', 'glibc-dns-testing', 'sample-apiserver', 'etcd', 'nautilus', 'kitten']) {
      const without = await cluster.operator.must(0, 'conformance', '--list', '--without-image', image)
      expect(without.stdout.split('\n').length, image).toBeLessThan(463)
      expect(without.stderr, 'it is kept').not.toContain('downloading')
    }
  })

  test('thirty tests of all kinds pass', { timeout: 1_200_000 }, async () => {
    const { stdout } = await cluster.operator.must(
      0,
      ...['conformance', '--only', thirty, '--report', join(cluster.directory, 'thirty'), '-o', 'json'],
    )
    const report = readVersioned<ConformanceReport>(reportFormat, JSON.parse(stdout))
    process.stderr.write(`conformance: ${report.counts.passed} passed in ${report.seconds.toFixed(0)} s\n`)
    expect(report.counts).toEqual({ chosen: 30, ran: 30, passed: 30, failed: 0, skipped: 0, leftOut: 0 })
    expect(report.versions.kubernetes).toBe('v1.37.1')
    const names = await readdir(join(cluster.directory, 'thirty'))
    expect(names).toEqual(expect.arrayContaining(['e2e.log', 'junit_01.xml', 'report.json']))
    expect(await readFile(report.files.log, 'utf8')).toContain('30 Passed | 0 Failed')
    await expectNoTraces()
  })

  test('an interruption ends it within a minute, and says what was done', { timeout: 300_000 }, async () => {
    const report = join(cluster.directory, 'cut')
    const command = cluster.operator.begin('conformance', '--only', thirty, '--report', report)
    await until(
      'the first test to pass',
      async () => /^• \[/m.test(await readFile(join(report, 'e2e.log'), 'utf8')),
      { within: 180_000, every: 500 },
    )
    command.kill('SIGINT')
    const { code, said } = await command.ended
    expect(code).toBe(130)
    expect(said).toContain('interrupted: ')
    const cut = readVersioned<ConformanceReport>(
      reportFormat,
      JSON.parse(await readFile(join(report, 'report.json'), 'utf8')),
    )
    expect(cut.outcome).toBe('interrupted')
    expect(cut.counts.passed).toBeGreaterThan(0)
    expect(cut.counts.leftOut).toBeGreaterThan(20)
    await expectNoTraces()
  })

  /** Neither a key in a file, nor a namespace in the cluster. */
  async function expectNoTraces(): Promise<void> {
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith('hyperkube-conformance-'))
    expect(left).toEqual([])
    await until(
      'the namespaces of tests to be gone',
      async () => {
        const { items } = await cluster.api.get<{
          items: { metadata: { labels?: Record<string, string> } }[]
        }>('/api/v1/namespaces')
        return items.every(({ metadata }) => !('e2e-framework' in (metadata.labels ?? {})))
      },
      { within: 120_000, every: 1000 },
    )
  }
})
