import type { ConformanceReport } from '../../conformance/report.ts'
import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'
import { alike, count } from '../format-text.ts'

/** Of a reason so many lines are shown; the rest is in the log. */
const mostLines = 4

/** What failed and why, how many there were, and where all of it can be read. */
export function conformanceText(report: ConformanceReport, paint: Paint): string {
  const { tests, troubles, files } = report
  const failures = tests.filter(({ outcome }) => outcome === 'failed' || outcome === 'interrupted')
  const lines = [
    ...failures.flatMap(({ name, outcome, seconds, reason }) => [
      `${paint('red', outcome)} ${name} (${duration(seconds * 1000)})`,
      ...indented(reason ?? []),
    ]),
    ...troubles.flatMap((trouble) => {
      const [first = '', ...rest] = trouble.split('\n')
      return [`${paint('red', 'trouble')} ${first}`, ...indented(rest)]
    }),
    ...leftOutLines(report),
    summary(report, paint),
    `log:    ${files.log}`,
    `junit:  ${files.junit}`,
    `report: ${files.report}`,
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function indented(reason: readonly string[]): string[] {
  const more = reason.length - mostLines
  return [...reason.slice(0, mostLines), ...(more > 0 ? ['…'] : [])].map((line) => `  ${printable(line)}`)
}

function leftOutLines({ leftOut, tests }: ConformanceReport): string[] {
  const own = tests
    .filter(({ outcome }) => outcome === 'skipped')
    .map(({ reason }) => ({ why: reason?.[0] ?? 'they said no why' }))
  return [
    ...alike(leftOut, ({ why }) => why).map(
      ([why, ones]) => `left out: ${count(ones.length, 'test')}, ${why}`,
    ),
    ...alike(own, ({ why }) => why).map(
      ([why, ones]) => `skipped:  ${count(ones.length, 'test')} by itself: ${printable(why)}`,
    ),
  ]
}

function summary({ counts, outcome, seconds, versions }: ConformanceReport, paint: Paint): string {
  const colour = outcome === 'passed' ? 'green' : 'red'
  const figures = `${counts.passed} of ${counts.ran} that ran passed`
  const about =
    versions.kubernetes === undefined ? '' : ` against Kubernetes ${printable(versions.kubernetes)}`
  return `${paint(colour, outcome)}: ${figures}${about}, in ${duration(seconds * 1000)}`
}
