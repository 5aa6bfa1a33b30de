import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { countResults, type SuiteProgress, findSuiteProblems } from './progress.ts'
import type { OmittedTest } from './select.ts'
import { testOutcomes } from './ginkgo-output.ts'

const nameField = { name: z.string() }
const reportSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ConformanceReport'),
  cluster: z.string(),
  versions: z.strictObject({
    hyperkube: z.string(),
    /** Version of the suite. */
    suite: z.string(),
    /** Version of the API server; missing if no test process reported it. */
    kubernetes: z.string().optional(),
  }),
  began: z.iso.datetime(),
  seconds: z.number(),
  outcome: z.enum(['passed', 'failed', 'interrupted']),
  counts: z.strictObject({
    chosen: z.int(),
    ran: z.int(),
    passed: z.int(),
    failed: z.int(),
    skipped: z.int(),
    leftOut: z.int(),
  }),
  /** Problems other than failed tests. */
  problems: z.array(z.string()),
  /** Results in the order in which the tests ended. */
  tests: z.array(
    z.strictObject({
      ...nameField,
      outcome: z.enum(testOutcomes),
      seconds: z.number(),
      reason: z.array(z.string()).optional(),
    }),
  ),
  /** Requested tests that did not run, because the operator excluded them or the run ended early. */
  leftOut: z.array(z.strictObject({ ...nameField, why: z.string() })),
  files: z.strictObject({ log: z.string(), junit: z.string(), report: z.string() }),
})

/** Result of a conformance run, as a JSON file. */
export type ConformanceReport = z.infer<typeof reportSchema>

export const conformanceReportFormat: Format<ConformanceReport> = {
  kind: 'ConformanceReport',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: reportSchema },
  older: [],
}

export interface EndedSuiteRun {
  readonly suiteProgress: SuiteProgress
  readonly leftOut: readonly OmittedTest[]
  /** Exit code of e2e.test. */
  readonly code: number
  readonly ended: Date
  readonly isInterrupted: boolean
}

/**
 * Builds the report of a run. The run has passed only if all chosen tests were reached, none failed, at least
 * one passed, and the suite had no other problem.
 */
export function buildConformanceReport(
  { suiteProgress, leftOut, code, ended, isInterrupted }: EndedSuiteRun,
  metadata: Pick<ConformanceReport, 'cluster' | 'files'> & {
    readonly hyperkube: string
    readonly suite: string
  },
): ConformanceReport {
  const { chosen, results, began, server } = suiteProgress
  const done = new Set(results.map(({ name }) => name))
  const notReached = chosen.filter((name) => !done.has(name))
  const problems = isInterrupted ? [] : findSuiteProblems(suiteProgress, code)
  const passed = countResults(suiteProgress, 'passed')
  const skipped = countResults(suiteProgress, 'skipped')
  const ran = results.length - skipped
  const hasPassed =
    passed === ran && passed > 0 && notReached.length === 0 && problems.length === 0 && code === 0
  const allLeftOut = [...leftOut, ...notReached.map((name) => ({ name, why: 'the run ended early' }))]
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ConformanceReport',
    cluster: metadata.cluster,
    versions: {
      hyperkube: metadata.hyperkube,
      suite: metadata.suite,
      ...(server === undefined ? {} : { kubernetes: server }),
    },
    began: began.toISOString(),
    seconds: (ended.getTime() - began.getTime()) / 1000,
    outcome: isInterrupted ? 'interrupted' : hasPassed ? 'passed' : 'failed',
    counts: {
      chosen: chosen.length,
      ran,
      passed,
      failed: ran - passed,
      skipped,
      leftOut: allLeftOut.length,
    },
    problems,
    tests: results.map(({ reason, ...result }) =>
      reason.length === 0 ? result : { ...result, reason: [...reason] },
    ),
    leftOut: allLeftOut,
    files: metadata.files,
  }
}
