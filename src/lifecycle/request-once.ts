import { formatDuration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Remote } from '../ssh/remote.ts'
import { AgentLink, type AgentResponseBody, type AgentRequestBody } from './agent-link.ts'
import { formatAgentHint, buildHostCommand } from './host-program.ts'

/** A hanging agent accepts requests but never responds. */
const defaultTimeoutMs = 15_000

/**
 * Sends one request to an agent. Does not wait for an agent that is still starting, because only observing
 * commands use this.
 */
export async function requestOnce<T extends AgentResponseBody['type']>(
  remote: Remote,
  request: Exclude<AgentRequestBody, { type: 'attach' }>,
  expected: T,
  signal: AbortSignal,
  timeoutMs = defaultTimeoutMs,
): Promise<Extract<AgentResponseBody, { type: T }>> {
  const { host } = remote
  const timeout = AbortSignal.timeout(timeoutMs)
  const combined = AbortSignal.any([signal, timeout])
  const argv = await buildHostCommand(remote, ['agent-call'], combined)
  const conversation = await remote.open(argv, { signal: combined, root: true })
  const link = new AgentLink(host, conversation, formatAgentHint(remote))
  try {
    return await Promise.race([link.request(request, expected), aborted(combined)])
  } catch (error) {
    signal.throwIfAborted()
    if (!timeout.aborted) throw error
    throw new HyperkubeError('TIMED_OUT', `waited ${formatDuration(timeoutMs)} for its agent to answer`, {
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
