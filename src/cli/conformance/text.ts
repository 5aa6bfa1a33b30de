import type { ConformanceReport } from '../../conformance/report.ts'
import { formatCount, groupByText, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Paint } from '../command/command.ts'

/** Maximum number of lines of a failure's reason; the log has all lines. */
const maxReasonLines = 4

/** Formats failures with reasons, totals, and the paths of the log, JUnit and report files. */
export function formatConformanceReport(report: ConformanceReport, paint: Paint): string {
  const { tests, problems, files } = report
  const failures = tests.filter(({ outcome }) => outcome === 'failed' || outcome === 'interrupted')
  const lines = [
    ...failures.flatMap(({ name, outcome, seconds, reason }) => [
      `${paint('red', outcome)} ${name} (${formatDuration(seconds * 1000)})`,
      ...indentReason(reason ?? []),
    ]),
    ...problems.flatMap((problem) => {
      const [first = '', ...rest] = problem.split('\n')
      return [`${paint('red', 'problem')} ${first}`, ...indentReason(rest)]
    }),
    ...formatLeftOut(report),
    formatSummary(report, paint),
    `log:    ${files.log}`,
    `junit:  ${files.junit}`,
    `report: ${files.report}`,
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function indentReason(reason: readonly string[]): string[] {
  const omitted = reason.length - maxReasonLines
  return [...reason.slice(0, maxReasonLines), ...(omitted > 0 ? ['…'] : [])].map(
    (line) => `  ${toPrintable(line)}`,
  )
}

function formatLeftOut({ leftOut, tests }: ConformanceReport): string[] {
  const skippedBySuite = tests
    .filter(({ outcome }) => outcome === 'skipped')
    .map(({ reason }) => ({ why: reason?.[0] ?? 'no reason given' }))
  return [
    ...groupByText(leftOut, ({ why }) => why).map(
      ([why, group]) => `excluded: ${formatCount(group.length, 'test')}, ${why}`,
    ),
    ...groupByText(skippedBySuite, ({ why }) => why).map(
      ([why, group]) => `skipped:  ${formatCount(group.length, 'test')} by e2e.test: ${toPrintable(why)}`,
    ),
  ]
}

function formatSummary({ counts, outcome, seconds, versions }: ConformanceReport, paint: Paint): string {
  const colour = outcome === 'passed' ? 'green' : 'red'
  const figures = `${counts.passed} of ${formatCount(counts.ran, 'test')} passed`
  const testedVersion =
    versions.kubernetes === undefined ? '' : ` against Kubernetes ${toPrintable(versions.kubernetes)}`
  return `${paint(colour, outcome)}: ${figures}${testedVersion}, in ${formatDuration(seconds * 1000)}`
}
