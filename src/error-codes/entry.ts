import type { Symptom } from './symptoms.ts'

/** What a code means, for somebody who has just been shown it. Commands are between backquotes. */
export interface Entry {
  /** What is the case, in one sentence. */
  readonly summary: string
  /** Why it matters, or how it comes about, where that is not plain. */
  readonly meaning?: string
  /** What to do now. */
  readonly remedy: string
  /** What a person sees who has not been shown the code: docs/troubleshooting.md goes from there to here. */
  readonly symptoms?: readonly Symptom[]
}

/** By code. A code keeps its meaning from release to release; one that is no longer used is never used again. */
export type Entries = Readonly<Record<string, Entry>>
