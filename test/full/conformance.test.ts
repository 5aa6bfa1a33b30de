import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conformanceParts } from '../../lab/components/parts.ts'
import { type ConformanceReport, conformanceReportFormat } from '../../src/conformance/report.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { conformanceTestList, expectNoTraces } from '../support/conformance-tests.ts'
import { openFreshLab } from '../support/lab.ts'
import { startDnsServer } from '../support/test-dns-server.ts'
import { createUpCluster, type UpCluster } from '../support/up-cluster.ts'

const shape = '3+2'
const evidence = join(import.meta.dirname, '../../docs/evidence/conformance.md')
const hours = 3_600_000
/** Number of parallel test processes. One process would need more than two hours, mostly waiting. */
const parallel = 4

/**
 * Images that the lab cannot build. A test expects the kitten image to contain Alpine, which is not
 * available.
 */
const missingImages = ['kitten']

let opened: ConformanceCluster | undefined

beforeAll(async () => {
  opened = await startConformanceCluster()
}, 1_200_000)
afterAll(async () => opened?.[Symbol.asyncDispose]())

test('an interruption ends the run with a report of the tests so far', { timeout: 600_000 }, async () => {
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

test('all conformance tests with available images pass', { timeout: 8 * hours }, async () => {
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
  await writeFile(evidence, formatConformanceEvidence(report))
  expect(report.tests.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(report.problems).toEqual([])
  expect([code, report.outcome]).toEqual([0, 'passed'])
})

/** A cluster with its addons, and a mirror that has the upstream suite and its images. */
interface ConformanceCluster extends AsyncDisposable {
  readonly cluster: UpCluster
}

async function startConformanceCluster(): Promise<ConformanceCluster> {
  await using stack = new AsyncDisposableStack()
  const lab = await openFreshLab('conformance')
  stack.defer(async () => lab.down())
  const cluster = await createUpCluster(lab, shape, '1.37.1', {
    addons: true,
    parts: conformanceParts,
    async prepare({ edit }) {
      stack.use(await startDnsServer(lab.gateway))
      await edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway]))
    },
  })
  stack.defer(async () => cluster.close())
  const resources = stack.move()
  return { cluster, [Symbol.asyncDispose]: async () => resources.disposeAsync() }
}

type Test = ConformanceReport['tests'][number]

/** Renders the result of a whole run for docs/evidence. */
function formatConformanceEvidence(report: ConformanceReport): string {
  const { versions, began, seconds, counts, tests, leftOut, problems } = report
  const groups = [...Map.groupBy(tests, ({ name }) => parseGroup(name))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const rows = groups.map(([group, groupTests]) => {
    const countOutcome = (outcome: Test['outcome']): number =>
      groupTests.filter((one) => one.outcome === outcome).length
    const minutes = groupTests.reduce((sum, one) => sum + one.seconds, 0) / 60
    return `| ${group} | ${groupTests.length} | ${countOutcome('passed')} | ${groupTests.length - countOutcome('passed') - countOutcome('skipped')} | ${countOutcome('skipped')} | ${minutes.toFixed(1)} |`
  })
  const failed = tests.filter(({ outcome }) => outcome === 'failed' || outcome === 'interrupted')
  const skipped = tests.filter(({ outcome }) => outcome === 'skipped')
  const longest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
  return `# Upstream's conformance tests

Written by \`npm run e2e:full\` on ${began.slice(0, 10)}: \`hyperkube conformance\` with upstream's e2e.test ${versions.suite}
against Kubernetes ${versions.kubernetes ?? 'of unknown version'}, ${shape} hosts of the lab with all addons, ${parallel} tests
in parallel and then the serial ones, in ${(seconds / 60).toFixed(0)} minutes.

**${counts.passed} of ${counts.ran} that ran passed**, ${counts.failed} failed, ${counts.skipped} skipped themselves, ${counts.leftOut} were excluded by name. This is not a certification:
images are the lab's own ([what they are](../conformance.md#in-the-lab)), and a certification needs all tests.

| | ran or skipped | passed | failed | skipped | minutes |
|---|---|---|---|---|---|
${rows.join('\n')}

${formatSection(
  'Failed',
  failed.map(({ name, reason }) => `- ${inlineCode(name)}: ${inlineCode(reason?.[0] ?? '')}`),
)}
${formatSection(
  'Excluded',
  leftOut.map(({ name, why }) => `- ${inlineCode(name)}: ${why}`),
)}
${formatSection(
  'Skipped by themselves',
  skipped.map(({ name, reason }) => `- ${inlineCode(name)}: ${inlineCode(reason?.[0] ?? '')}`),
)}
${formatSection(
  'Problems of the suite itself',
  problems.map((problem) => `- ${inlineCode(problem.replaceAll('\n', ' '))}`),
)}
${formatSection(
  'Slowest',
  longest.map((one) => `- ${one.seconds.toFixed(0)} s: ${inlineCode(one.name)}`),
)}`
}

function formatSection(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.length === 0 ? 'None.' : lines.join('\n')}\n`
}

function parseGroup(name: string): string {
  return /^\[([\w-]+)\]/.exec(name)?.[1] ?? 'others'
}

/**
 * Formats a test name as inline code, because Markdown would turn its brackets into links. Backquotes in the
 * name are replaced.
 */
function inlineCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``
}
