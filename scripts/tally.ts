import { readFileSync } from 'node:fs'

/** The fields of a vitest JSON report that this script reads. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numFailedTestSuites: number
}

/**
 * Renders one summary line for several test reports. If a report has no failed tests, its failed suites are
 * counted instead, because these suites could not start.
 */
export function tally(reports: readonly Report[]): string {
  const passed = sum(reports.map(({ numPassedTests }) => numPassedTests))
  const failed = sum(
    reports.map(({ numFailedTests, numFailedTestSuites }) =>
      numFailedTests === 0 ? numFailedTestSuites : numFailedTests,
    ),
  )
  return `${passed} passed, ${failed} failed`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

if (import.meta.main) {
  const reports = process.argv.slice(2).map((file): Report => JSON.parse(readFileSync(file, 'utf8')))
  process.stdout.write(`${tally(reports)}\n`)
}
