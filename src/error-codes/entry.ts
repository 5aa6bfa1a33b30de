import type { Symptom } from './symptoms.ts'

/** Explanation of one error code for operators. Commands in the texts are in backquotes. */
export interface ErrorCodeEntry {
  /** What happened, in one sentence. */
  readonly summary: string
  /** Why it matters or what causes it, if the summary does not say so. */
  readonly meaning?: string
  /** What to do next. */
  readonly remedy: string
  /** Symptoms that lead to this code in docs/troubleshooting.md. */
  readonly symptoms?: readonly Symptom[]
}

/** Entries by code. A code keeps its meaning in all releases; a retired code is never used again. */
export type ErrorCodeEntries = Readonly<Record<string, ErrorCodeEntry>>
