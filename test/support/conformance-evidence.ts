import type { ConformanceReport } from '../../src/conformance/report.ts'

type Test = ConformanceReport['tests'][number]

/** What came of a whole run, as it is kept. */
export function conformanceEvidence(report: ConformanceReport, shape: string, parallel: number): string {
  const { versions, began, seconds, counts, tests, leftOut, troubles } = report
  const groups = [...Map.groupBy(tests, ({ name }) => groupOf(name))].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const rows = groups.map(([group, own]) => {
    const of = (outcome: Test['outcome']): number => own.filter((test) => test.outcome === outcome).length
    const minutes = own.reduce((sum, test) => sum + test.seconds, 0) / 60
    return `| ${group} | ${own.length} | ${of('passed')} | ${own.length - of('passed') - of('skipped')} | ${of('skipped')} | ${minutes.toFixed(1)} |`
  })
  const failed = tests.filter(({ outcome }) => outcome === 'failed' || outcome === 'interrupted')
  const skipped = tests.filter(({ outcome }) => outcome === 'skipped')
  const longest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
  return `# Upstream's conformance tests

Written by \`npm run e2e:full\` on ${began.slice(0, 10)}: \`hyperkube conformance\` with upstream's e2e.test ${versions.suite}
against Kubernetes ${versions.kubernetes ?? 'that did not answer'}, ${shape} hosts of the lab with all addons, ${parallel} tests
side by side and then those that must run alone, in ${(seconds / 60).toFixed(0)} minutes.

**${counts.passed} of ${counts.ran} that ran passed**, ${counts.failed} failed, ${counts.skipped} skipped themselves, ${counts.leftOut} were left out by name. This is no certificate:
images are the lab's own ([what they are](../conformance.md#in-the-lab)), and a certificate needs all tests.

| | ran or skipped | passed | failed | skipped | minutes |
|---|---|---|---|---|---|
${rows.join('\n')}

${section(
  'Failed',
  failed.map(({ name, reason }) => `- ${code(name)}: ${code(reason?.[0] ?? '')}`),
)}
${section(
  'Left out',
  leftOut.map(({ name, why }) => `- ${code(name)}: ${why}`),
)}
${section(
  'Skipped by themselves',
  skipped.map(({ name, reason }) => `- ${code(name)}: ${code(reason?.[0] ?? '')}`),
)}
${section(
  'Troubles of the suite itself',
  troubles.map((trouble) => `- ${code(trouble.replaceAll('\n', ' '))}`),
)}
${section(
  'The longest',
  longest.map((test) => `- ${test.seconds.toFixed(0)} s: ${code(test.name)}`),
)}`
}

function section(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.length === 0 ? 'None.' : lines.join('\n')}\n`
}

function groupOf(name: string): string {
  return /^\[([\w-]+)\]/.exec(name)?.[1] ?? 'others'
}

/** Names have brackets, which would be links, and backquotes now and then. */
function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``
}
