import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConformanceReport, conformanceReportFormat } from '../../src/conformance/report.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import { type ConformanceCluster, startConformanceCluster } from '../support/conformance-cluster.ts'
import { formatConformanceEvidence } from '../support/conformance-evidence.ts'
import { expectNoTraces, conformanceTestList } from '../support/conformance-suite.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/conformance.md')
const hours = 3_600_000
/** Number of parallel test processes. One process would need more than two hours, mostly waiting. */
const parallel = 4

/** Images that cannot be built here. A test expects kitten to contain Alpine, which is not available. */
const missingImages = ['kitten']

let opened: ConformanceCluster | undefined

beforeAll(async () => {
  opened = await startConformanceCluster()
}, 1_200_000)
afterAll(async () => opened?.[Symbol.asyncDispose]())

test('an interruption ends it within minutes, and says what was done', { timeout: 600_000 }, async () => {
  if (opened === undefined) throw new Error('there is no cluster')
  const { cluster } = opened
  const report = join(cluster.directory, 'cut')
  const command = cluster.operator.start('conformance', '--only', conformanceTestList, '--report', report)
  await pollUntil(
    'the first test to pass',
    async () => /^• \[/m.test(await readFile(join(report, 'e2e.log'), 'utf8')),
    { timeoutMs: 180_000, intervalMs: 500 },
  )
  command.kill('SIGINT')
  const { code, output } = await command.ended
  expect(code).toBe(130)
  expect(output).toContain('interrupted: ')
  const interruptedReport = readVersioned<ConformanceReport>(
    conformanceReportFormat,
    JSON.parse(await readFile(join(report, 'report.json'), 'utf8')),
  )
  expect(interruptedReport.outcome).toBe('interrupted')
  expect(interruptedReport.counts.passed).toBeGreaterThan(0)
  expect(interruptedReport.counts.leftOut).toBeGreaterThan(20)
  await expectNoTraces(cluster)
})

test('all conformance tests that can run here pass', { timeout: 8 * hours }, async () => {
  if (opened === undefined) throw new Error('there is no cluster')
  const { cluster } = opened
  const directory = process.env['CONFORMANCE_REPORT'] ?? join(cluster.directory, 'conformance')
  const without = missingImages.flatMap((image) => ['--without-image', image])
  const { code, stderr } = await cluster.hyperkube(
    ...['conformance', '--report', directory, '--parallel', String(parallel), ...without],
  )
  const text = await readFile(join(directory, 'report.json'), 'utf8').catch(() => {
    throw new Error(`it ended with ${code} and left no report: ${stderr}`)
  })
  const report = readVersioned<ConformanceReport>(conformanceReportFormat, JSON.parse(text))
  await mkdir(join(evidence, '..'), { recursive: true })
  await writeFile(evidence, formatConformanceEvidence(report, '3+2', parallel))
  expect(report.tests.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(report.problems).toEqual([])
  expect([code, report.outcome]).toEqual([0, 'passed'])
})
