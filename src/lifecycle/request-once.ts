import { duration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Remote } from '../ssh/remote.ts'
import { AgentLink, type Answer, type Ask } from './agent-link.ts'
import { agentHint, ownCommand } from './host-program.ts'

/** In milliseconds. An agent that hangs takes requests, and never answers. */
const patience = 15_000

/** One question to an agent, for those who only look: who is not there now is not waited for. */
export async function askOnce<T extends Answer['type']>(
  remote: Remote,
  ask: Exclude<Ask, { type: 'attach' }>,
  expected: T,
  signal: AbortSignal,
  within = patience,
): Promise<Extract<Answer, { type: T }>> {
  const { host } = remote
  const late = AbortSignal.timeout(within)
  const either = AbortSignal.any([signal, late])
  const argv = await ownCommand(remote, ['agent-call'], either)
  const conversation = await remote.open(argv, { signal: either, root: true })
  const link = new AgentLink(host, conversation, agentHint(remote))
  try {
    return await Promise.race([link.ask(ask, expected), aborted(either)])
  } catch (error) {
    signal.throwIfAborted()
    if (!late.aborted) throw error
    throw new HyperkubeError('TIMED_OUT', `waited ${duration(within)} for its agent to answer`, {
      host,
      hint: agentHint(remote),
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
