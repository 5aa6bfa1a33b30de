import type { Claim } from '../contract/request.ts'
import { hasCode } from '../kit/errors.ts'
import { until } from '../kit/poll-until.ts'
import type { Remote } from '../ssh/remote.ts'
import { untilAgentGone } from './agent-switch.ts'
import { inRun } from './run-on-agent.ts'
import type { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

/** In milliseconds. */
const patience = 30_000

/**
 * Takes everything of ours off a host. Its agent goes last, once it has said that all the rest is gone: afterwards
 * nobody is there to be asked.
 */
export async function resetHost(session: Session, claim: Claim, tell: Tell): Promise<void> {
  await inRun(session, tell, { type: 'reset', claim }).catch(unlessGone)
  // Whoever looks at the host right afterwards shall not find it on its way out. It goes, whether or not we see it go.
  const signal = AbortSignal.timeout(patience)
  const { remote } = session
  if (remote?.windows === undefined)
    await remote?.exec(untilAgentGone, { signal, root: true }).catch(() => undefined)
  else await untilCleared(remote, signal)
}

/** Who lost the way meanwhile, and finds the agent gone, knows that all before it is gone, too. */
function unlessGone(error: unknown): void {
  if (!hasCode(error, 'AGENT_NOT_THERE')) throw error
}

/** Windows removes no program that runs: those that ran until the end go once they have ended. */
async function untilCleared({ windows }: Remote, signal: AbortSignal): Promise<void> {
  const clear = async (): Promise<true | undefined> => {
    if ((await windows?.current(signal)) !== undefined) return undefined
    await windows?.clear(signal)
    return true
  }
  await until('its agent to go', clear, { within: patience, every: 500, signal }).catch(() => undefined)
}
