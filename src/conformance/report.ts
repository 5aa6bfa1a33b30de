import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { countOf, type Course, troublesOf } from './progress.ts'
import type { LeftOut } from './select.ts'
import { testOutcomes } from './ginkgo-output.ts'

const named = { name: z.string() }
const schema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ConformanceReport'),
  cluster: z.string(),
  versions: z.strictObject({
    hyperkube: z.string(),
    /** Of the suite. */
    suite: z.string(),
    /** Of the API server that it met; missing where it met none. */
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
  /** What went wrong beside tests. */
  troubles: z.array(z.string()),
  /** In the order in which they ended. */
  tests: z.array(
    z.strictObject({
      ...named,
      outcome: z.enum(testOutcomes),
      seconds: z.number(),
      reason: z.array(z.string()).optional(),
    }),
  ),
  /** Asked for and not run: by whoever started it, or because the run ended before. */
  leftOut: z.array(z.strictObject({ ...named, why: z.string() })),
  files: z.strictObject({ log: z.string(), junit: z.string(), report: z.string() }),
})

/** What came of a run of the suite, for programs and for later. */
export type ConformanceReport = z.infer<typeof schema>

export const reportFormat: Format<ConformanceReport> = {
  kind: 'ConformanceReport',
  newest: { apiVersion: 'hyperkube.dev/v1', schema },
  older: [],
}

export interface EndedCourse {
  readonly course: Course
  readonly leftOut: readonly LeftOut[]
  /** Of e2e.test. */
  readonly code: number
  readonly ended: Date
  readonly isInterrupted: boolean
}

/** A run has passed when all that ran has, and something did. */
export function reportOf(
  { course, leftOut, code, ended, isInterrupted }: EndedCourse,
  about: Pick<ConformanceReport, 'cluster' | 'files'> & {
    readonly hyperkube: string
    readonly suite: string
  },
): ConformanceReport {
  const { chosen, results, began, server } = course
  const done = new Set(results.map(({ name }) => name))
  const notReached = chosen.filter((name) => !done.has(name))
  const troubles = isInterrupted ? [] : troublesOf(course, code)
  const passed = countOf(course, 'passed')
  const skipped = countOf(course, 'skipped')
  const ran = results.length - skipped
  const isWell =
    passed === ran && passed > 0 && notReached.length === 0 && troubles.length === 0 && code === 0
  const out = [...leftOut, ...notReached.map((name) => ({ name, why: 'the run ended before' }))]
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ConformanceReport',
    cluster: about.cluster,
    versions: {
      hyperkube: about.hyperkube,
      suite: about.suite,
      ...(server === undefined ? {} : { kubernetes: server }),
    },
    began: began.toISOString(),
    seconds: (ended.getTime() - began.getTime()) / 1000,
    outcome: isInterrupted ? 'interrupted' : isWell ? 'passed' : 'failed',
    counts: {
      chosen: chosen.length,
      ran,
      passed,
      failed: ran - passed,
      skipped,
      leftOut: out.length,
    },
    troubles,
    tests: results.map(({ reason, ...result }) =>
      reason.length === 0 ? result : { ...result, reason: [...reason] },
    ),
    leftOut: out,
    files: about.files,
  }
}
