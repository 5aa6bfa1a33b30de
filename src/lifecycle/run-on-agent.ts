import { randomUUID } from 'node:crypto'
import type { Ask } from './agent-link.ts'
import { followRun } from './follow-run.ts'
import type { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

type Begins<T> = T extends { run: string; claim: unknown } ? Omit<T, 'run'> : never
/** What a host does as a run of its own. */
export type RunAsk = Begins<Ask>

/** Asks a host for it, and hears the run to its end. */
export async function inRun(session: Session, tell: Tell, ask: RunAsk): Promise<void> {
  const run = randomUUID()
  await session.ask({ ...ask, run }, 'running')
  await followRun(session, run, tell)
}
