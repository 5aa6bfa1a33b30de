import { expect, test } from 'vitest'
import { tally } from './tally.ts'

test('reports are summed, and a suite that did not start counts as failed', () => {
  const report = (passed: number, failed: number, suites: number) => ({
    numPassedTests: passed,
    numFailedTests: failed,
    numFailedTestSuites: suites,
  })
  expect(tally([report(3, 0, 0), report(4, 1, 1)])).toBe('7 passed, 1 failed')
  expect(tally([report(3, 0, 1)])).toBe('3 passed, 1 failed')
})
