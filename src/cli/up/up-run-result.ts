import type { ProvisionalEnd } from '../provisional/text.ts'
import type { CommandOutcome } from '../run-with-progress.ts'

export interface UpRunResult extends CommandOutcome {
  readonly provisional?: ProvisionalEnd
}
