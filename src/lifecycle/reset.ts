import type { Claim } from '../contract/request.ts'
import { hasCode } from '../kit/errors.ts'
import { pollUntil } from '../kit/poll-until.ts'
import type { Remote } from '../ssh/remote.ts'
import { waitForAgentGoneCommand } from './agent-switch.ts'
import { runOnAgent } from './run-on-agent.ts'
import type { Session } from './session.ts'
import type { EmitEvent } from './event-stream.ts'

const timeoutMs = 30_000

/**
 * Removes everything of hyperkube from a host. The agent is removed last, after it has reported the other
 * removals, because afterwards it is unreachable.
 */
export async function resetHost(session: Session, claim: Claim, emit: EmitEvent): Promise<void> {
  await runOnAgent(session, emit, { type: 'reset', claim }).catch(ignoreMissingAgent)
  // Waits until the agent is gone, so that the next command does not find an agent that is shutting down. A
  // failed wait is not an error.
  const signal = AbortSignal.timeout(timeoutMs)
  const { remote } = session
  if (remote?.windows === undefined)
    await remote?.exec(waitForAgentGoneCommand, { signal, root: true }).catch(() => undefined)
  else await waitUntilCleared(remote, signal)
}

/**
 * Ignores a missing agent. After a lost connection it means that the agent has removed everything, including
 * itself.
 */
function ignoreMissingAgent(error: unknown): void {
  if (!hasCode(error, 'AGENT_NOT_THERE')) throw error
}

/**
 * Waits until the agent is gone, then removes the last programs. Windows cannot delete a program while it
 * runs.
 */
async function waitUntilCleared({ windows }: Remote, signal: AbortSignal): Promise<void> {
  const clear = async (): Promise<true | undefined> => {
    if ((await windows?.readCurrentVersion(signal)) !== undefined) return undefined
    await windows?.removePrograms(signal)
    return true
  }
  await pollUntil('its agent to go', clear, { timeoutMs: timeoutMs, intervalMs: 500, signal }).catch(
    () => undefined,
  )
}
