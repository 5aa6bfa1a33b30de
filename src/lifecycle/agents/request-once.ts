import { HyperkubeError } from '../../kit/errors.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { AgentRequestBody, AgentResponseBody } from './agent-link.ts'
import { formatAgentHint } from './host-program.ts'
import { openAgentLink } from './open-agent-link.ts'

/** Milliseconds to wait for a response. A hanging agent accepts requests but never responds. */
const requestTimeoutMs = 15_000

/**
 * Sends one request to an agent over a separate connection. Unlike a Session, this function does not retry
 * and does not wait for an agent that is still starting.
 */
export async function requestOnce<T extends AgentResponseBody['type']>(
  remote: Remote,
  request: Exclude<AgentRequestBody, { type: 'attach' }>,
  expected: T,
  signal: AbortSignal,
  timeoutMs = requestTimeoutMs,
): Promise<Extract<AgentResponseBody, { type: T }>> {
  const { host } = remote
  const timeout = AbortSignal.timeout(timeoutMs)
  const combined = AbortSignal.any([signal, timeout])
  const link = await openAgentLink(remote, combined)
  try {
    return await Promise.race([link.request(request, expected), aborted(combined)])
  } catch (error) {
    signal.throwIfAborted()
    if (!timeout.aborted) throw error
    throw new HyperkubeError('TIMED_OUT', `the agent did not respond within ${formatDuration(timeoutMs)}`, {
      host,
      hint: formatAgentHint(remote),
    })
  } finally {
    link.close()
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(new Error('aborted', { cause: signal.reason }))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
