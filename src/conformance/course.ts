import type { SuiteEvent, TestOutcome, TestResult } from './tale.ts'

/** How far a run of the suite is. */
export interface Course {
  /** Names of the tests that shall run. */
  readonly chosen: readonly string[]
  readonly began: Date
  readonly current: { readonly test: string; readonly since: Date } | undefined
  readonly results: readonly TestResult[]
  /** What went wrong with the suite itself, in words. */
  readonly troubles: readonly string[]
  readonly counted: { readonly passed: number; readonly failed: number } | undefined
  /** The version of the API server that was tested, as it said. */
  readonly server: string | undefined
}

export function beginning(chosen: readonly string[], began: Date): Course {
  return {
    chosen,
    began,
    current: undefined,
    results: [],
    troubles: [],
    counted: undefined,
    server: undefined,
  }
}

export function after(course: Course, event: SuiteEvent, now: Date): Course {
  switch (event.type) {
    case 'server':
      return { ...course, server: event.version }
    case 'began':
      return { ...course, current: { test: event.test, since: now } }
    case 'ended':
      return { ...course, current: undefined, results: [...course.results, event.result] }
    case 'suite-failed': {
      const trouble = [`${event.part} has failed`, ...event.reason].join('\n')
      return { ...course, troubles: [...course.troubles, trouble] }
    }
    default:
      return { ...course, counted: { passed: event.passed, failed: event.failed } }
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
  const { troubles, counted } = course
  const [passed, failed] = [countOf(course, 'passed'), countOf(course, 'failed')]
  const interrupted = countOf(course, 'interrupted')
  if (counted === undefined) {
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
