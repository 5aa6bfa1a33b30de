import type { Event } from '../contract/event.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Session } from './session.ts'
import type { EmitEvent } from './event-stream.ts'

/** Follows a run of a host to its end, emits its events, and throws if the run failed. */
export async function followRun(
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
