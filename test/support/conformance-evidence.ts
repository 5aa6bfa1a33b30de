import type { ConformanceReport } from '../../src/conformance/report.ts'

type Test = ConformanceReport['tests'][number]

/** Renders the result of a whole run for docs/evidence. */
export function formatConformanceEvidence(
  report: ConformanceReport,
  shape: string,
  parallel: number,
): string {
  const { versions, began, seconds, counts, tests, leftOut, problems } = report
  const groups = [...Map.groupBy(tests, ({ name }) => parseGroup(name))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const rows = groups.map(([group, groupTests]) => {
    const countOutcome = (outcome: Test['outcome']): number =>
      groupTests.filter((test) => test.outcome === outcome).length
    const minutes = groupTests.reduce((sum, test) => sum + test.seconds, 0) / 60
    return `| ${group} | ${groupTests.length} | ${countOutcome('passed')} | ${groupTests.length - countOutcome('passed') - countOutcome('skipped')} | ${countOutcome('skipped')} | ${minutes.toFixed(1)} |`
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

${formatSection(
  'Failed',
  failed.map(({ name, reason }) => `- ${inlineCode(name)}: ${inlineCode(reason?.[0] ?? '')}`),
)}
${formatSection(
  'Left out',
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
  'The longest',
  longest.map((test) => `- ${test.seconds.toFixed(0)} s: ${inlineCode(test.name)}`),
)}`
}

function formatSection(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.length === 0 ? 'None.' : lines.join('\n')}\n`
}

function parseGroup(name: string): string {
  return /^\[([\w-]+)\]/.exec(name)?.[1] ?? 'others'
}

/** Formats a test name as inline code, because its brackets would become links. Backquotes are replaced. */
function inlineCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``
}
