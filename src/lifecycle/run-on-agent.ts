import { randomUUID } from 'node:crypto'
import type { AgentRequestBody } from './agent-link.ts'
import { followRun } from './follow-run.ts'
import type { Session } from './session.ts'
import type { EmitEvent } from './event-stream.ts'

type WithoutRun<T> = T extends { run: string; claim: unknown } ? Omit<T, 'run'> : never
/** A request that a host executes as a run. */
export type AgentRunRequest = WithoutRun<AgentRequestBody>

/** Starts a run on a host and follows it to its end. */
export async function runOnAgent(session: Session, emit: EmitEvent, request: AgentRunRequest): Promise<void> {
  const run = randomUUID()
  await session.request({ ...request, run }, 'running')
  await followRun(session, run, emit)
}
