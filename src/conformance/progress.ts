import type { SuiteEvent, TestOutcome, TestResult } from './ginkgo-output.ts'

/** Progress of a run of the suite. */
export interface SuiteProgress {
  /** Names of the tests to run. */
  readonly chosen: readonly string[]
  readonly began: Date
  /** Running tests, the longest running first. */
  readonly running: readonly { readonly test: string; readonly since: Date }[]
  readonly results: readonly TestResult[]
  /** Problems of the suite itself, for example a failed setup. */
  readonly problems: readonly string[]
  /** Number of e2e.test processes of the run, in all batches. */
  readonly processes: number
  /** Totals that the ended processes have reported. */
  readonly counted: { readonly processes: number; readonly passed: number; readonly failed: number }
  /** Version that the tested API server reported. */
  readonly server: string | undefined
}

export function startSuiteProgress(chosen: readonly string[], began: Date, processes = 1): SuiteProgress {
  return {
    chosen,
    began,
    running: [],
    results: [],
    problems: [],
    processes,
    counted: { processes: 0, passed: 0, failed: 0 },
    server: undefined,
  }
}

export function advanceSuiteProgress(progress: SuiteProgress, event: SuiteEvent, now: Date): SuiteProgress {
  switch (event.type) {
    case 'server':
      return { ...progress, server: event.version }
    case 'began':
      return { ...progress, running: [...progress.running, { test: event.test, since: now }] }
    case 'ended':
      return {
        ...progress,
        running: progress.running.filter(({ test }) => test !== event.result.name),
        results: [...progress.results, event.result],
      }
    case 'suite-failed': {
      const problem = [`${event.part} failed`, ...event.reason].join('\n')
      return { ...progress, problems: [...progress.problems, problem] }
    }
    default: {
      const { processes, passed, failed } = progress.counted
      const counted = {
        processes: processes + 1,
        passed: passed + event.passed,
        failed: failed + event.failed,
      }
      return { ...progress, counted }
    }
  }
}

export function countResults({ results }: Pick<SuiteProgress, 'results'>, outcome: TestOutcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

/**
 * Finds problems of a run other than failed tests. The parsed results must match the totals that the suite
 * printed, because a changed output format must never count as success.
 */
export function findSuiteProblems(progress: SuiteProgress, code: number): string[] {
  const { problems, counted, processes } = progress
  const [passed, failed] = [countResults(progress, 'passed'), countResults(progress, 'failed')]
  const interrupted = countResults(progress, 'interrupted')
  if (counted.processes < processes) {
    return problems.length > 0
      ? [...problems]
      : [`e2e.test ended with exit code ${code} before it printed its totals`]
  }
  const isMiscounted = counted.passed !== passed || counted.failed !== failed + interrupted
  const miscounted = `e2e.test counted ${counted.passed} passed and ${counted.failed} failed tests, but hyperkube parsed ${passed} and ${failed + interrupted}`
  const unexplained = code !== 0 && failed + interrupted === 0 && problems.length === 0 && !isMiscounted
  return [
    ...problems,
    ...(isMiscounted ? [miscounted] : []),
    ...(unexplained ? [`e2e.test ended with exit code ${code}, although no test failed`] : []),
  ]
}
