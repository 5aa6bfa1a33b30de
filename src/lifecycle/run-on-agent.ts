import { randomUUID } from 'node:crypto'
import type { Event } from '../contract/event.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { AgentRequestBody } from './agent-link.ts'
import type { EmitEvent } from './event-stream.ts'
import type { Session } from './session.ts'

type WithoutRun<T> = T extends { run: string; claim: unknown } ? Omit<T, 'run'> : never
/** A request that an agent executes as a run. The run id is added when it is sent. */
export type AgentRunRequest = WithoutRun<AgentRequestBody>

/** Starts a run on a host and waits for its end. */
export async function runOnAgent(session: Session, emit: EmitEvent, request: AgentRunRequest): Promise<void> {
  const run = randomUUID()
  await session.request({ ...request, run }, 'running')
  await followRun(session, run, emit)
}

/** Follows a run of a host, emits its events, and throws if the run failed. */
async function followRun(
  session: Pick<Session, 'host' | 'follow'>,
  run: string,
  emit: EmitEvent,
): Promise<void> {
  const { host } = session
  let end: Event | undefined
  await session.follow(run, (event) => {
    if (event.body.type === 'run-ended') end = event
    else if (event.body.type !== 'run-started') emit(event.body, { host, ...component(event) })
  })
  const result = end?.body.type === 'run-ended' ? end.body.result : undefined
  if (result?.outcome === 'failed') {
    const { code, message, hint } = result.failure
    throw new HyperkubeError(code, message, { host, ...(hint === undefined ? {} : { hint }) })
  }
  if (result?.outcome === 'interrupted') {
    throw new HyperkubeError('AGENT_INTERRUPTED', 'its agent was stopped in the middle of the work', {
      host,
      hint: 'run the same command again: it goes on where this one ended',
    })
  }
}

function component({ component: name }: Event): { component?: string } {
  return name === undefined ? {} : { component: name }
}
