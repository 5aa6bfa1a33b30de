import { readFileSync } from 'node:fs'

/** The fields we read of a vitest JSON report. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numFailedTestSuites: number
}

/** One summary line for several test reports; a suite that could not start counts as one failure. */
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
