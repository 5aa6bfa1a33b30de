import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConformanceReport, reportFormat } from '../../src/conformance/report.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { until } from '../../src/kit/poll-until.ts'
import { type ConformanceCluster, conformanceCluster } from '../support/conformance-cluster.ts'
import { conformanceEvidence } from '../support/conformance-evidence.ts'
import { expectNoTraces, thirty } from '../support/conformance-suite.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/conformance.md')
const hours = 3_600_000
/** One after the other they take more than two hours, most of them waiting. */
const parallel = 4

/** Of images that cannot be made here: kitten is looked into for Alpine, which is not to be had. */
const missing = ['kitten']

let opened: ConformanceCluster | undefined

beforeAll(async () => {
  opened = await conformanceCluster()
}, 1_200_000)
afterAll(async () => opened?.[Symbol.asyncDispose]())

test('an interruption ends it within minutes, and says what was done', { timeout: 600_000 }, async () => {
  if (opened === undefined) throw new Error('there is no cluster')
  const { cluster } = opened
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
  await expectNoTraces(cluster)
})

test('all conformance tests that can run here pass', { timeout: 8 * hours }, async () => {
  if (opened === undefined) throw new Error('there is no cluster')
  const { cluster } = opened
  const directory = process.env['CONFORMANCE_REPORT'] ?? join(cluster.directory, 'conformance')
  const without = missing.flatMap((image) => ['--without-image', image])
  const { code, stderr } = await cluster.hyperkube(
    ...['conformance', '--report', directory, '--parallel', String(parallel), ...without],
  )
  const text = await readFile(join(directory, 'report.json'), 'utf8').catch(() => {
    throw new Error(`it ended with ${code} and left no report: ${stderr}`)
  })
  const report = readVersioned<ConformanceReport>(reportFormat, JSON.parse(text))
  await mkdir(join(evidence, '..'), { recursive: true })
  await writeFile(evidence, conformanceEvidence(report, '3+2', parallel))
  expect(report.tests.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(report.troubles).toEqual([])
  expect([code, report.outcome]).toEqual([0, 'passed'])
})
