import type { SuiteEvent, TestOutcome, TestResult } from './ginkgo-output.ts'

/** How far a run of the suite is. */
export interface Course {
  /** Names of the tests that shall run. */
  readonly chosen: readonly string[]
  readonly began: Date
  /** Those that run now, the one that began first before the others. */
  readonly running: readonly { readonly test: string; readonly since: Date }[]
  readonly results: readonly TestResult[]
  /** What went wrong with the suite itself, in words. */
  readonly troubles: readonly string[]
  /** How many processes the suite runs in, one after the other and side by side. */
  readonly processes: number
  /** What those have counted that have ended. */
  readonly counted: { readonly processes: number; readonly passed: number; readonly failed: number }
  /** The version of the API server that was tested, as it said. */
  readonly server: string | undefined
}

export function beginning(chosen: readonly string[], began: Date, processes = 1): Course {
  return {
    chosen,
    began,
    running: [],
    results: [],
    troubles: [],
    processes,
    counted: { processes: 0, passed: 0, failed: 0 },
    server: undefined,
  }
}

export function after(course: Course, event: SuiteEvent, now: Date): Course {
  switch (event.type) {
    case 'server':
      return { ...course, server: event.version }
    case 'began':
      return { ...course, running: [...course.running, { test: event.test, since: now }] }
    case 'ended':
      return {
        ...course,
        running: course.running.filter(({ test }) => test !== event.result.name),
        results: [...course.results, event.result],
      }
    case 'suite-failed': {
      const trouble = [`${event.part} has failed`, ...event.reason].join('\n')
      return { ...course, troubles: [...course.troubles, trouble] }
    }
    default: {
      const { processes, passed, failed } = course.counted
      const counted = {
        processes: processes + 1,
        passed: passed + event.passed,
        failed: failed + event.failed,
      }
      return { ...course, counted }
    }
  }
}

export function countOf({ results }: Pick<Course, 'results'>, outcome: TestOutcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

/**
 * What is wrong with a run beside tests that failed. What we have read must be what the suite has counted: a change in how
 * it speaks shall never look like success.
 */
export function troublesOf(course: Course, code: number): string[] {
  const { troubles, counted, processes } = course
  const [passed, failed] = [countOf(course, 'passed'), countOf(course, 'failed')]
  const interrupted = countOf(course, 'interrupted')
  if (counted.processes < processes) {
    return troubles.length > 0 ? [...troubles] : [`e2e.test ended with ${code} before it had counted`]
  }
  const other = counted.passed !== passed || counted.failed !== failed + interrupted
  const miscounted = `e2e.test counted ${counted.passed} passed and ${counted.failed} failed, of which ${passed} and ${failed + interrupted} were understood`
  const unexplained = code !== 0 && failed + interrupted === 0 && troubles.length === 0 && !other
  return [
    ...troubles,
    ...(other ? [miscounted] : []),
    ...(unexplained ? [`e2e.test ended with ${code}, though no test has failed`] : []),
  ]
}
