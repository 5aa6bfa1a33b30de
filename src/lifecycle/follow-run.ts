import type { Event } from '../contract/event.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

/** Hears a run of a host to its end, tells what happens in it, and fails as it does. */
export async function followRun(
  session: Pick<Session, 'host' | 'follow'>,
  run: string,
  tell: Tell,
): Promise<void> {
  const { host } = session
  let end: Event | undefined
  await session.follow(run, (event) => {
    if (event.what.type === 'run-ended') end = event
    else if (event.what.type !== 'run-started') tell(event.what, { host, ...component(event) })
  })
  const result = end?.what.type === 'run-ended' ? end.what.result : undefined
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
