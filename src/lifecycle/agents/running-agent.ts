import type { Arch, Os } from '../../catalog/artifacts.ts'
import { startDeadline } from '../../ssh/deadline.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { AgentLink, AgentResponseBody } from './agent-link.ts'
import type { AgentRelease } from './agent-release.ts'
import { dialAgent } from './open-agent-link.ts'

/** A confirmed agent of this release that already runs on a host. */
export interface RunningAgent {
  readonly link: AgentLink
  readonly hello: Extract<AgentResponseBody, { type: 'hello' }>
}

/**
 * Milliseconds to wait for the response of an agent that listens. After this time, `installAgent` decides
 * what to do.
 */
const helloTimeoutMs = 5000

/**
 * Finds a running agent that needs no installation, through its socket. This avoids starting programs on the
 * host to inspect it. Returns undefined in all other cases: then `installAgent` decides.
 */
export async function findRunningAgent(
  remote: Remote,
  releaseFor: (arch: Arch, os: Os) => Promise<AgentRelease>,
  signal: AbortSignal,
  timeoutMs = helloTimeoutMs,
): Promise<RunningAgent | undefined> {
  const link = await dialWithTimeout(remote, signal, timeoutMs)
  if (link === undefined) return undefined
  const hello = await requestHello(link, timeoutMs)
  signal.throwIfAborted()
  const { version, installation } = hello ?? {}
  if (hello !== undefined && installation?.provisional === false) {
    const release = await releaseFor(installation.arch, 'linux')
    if (release.version === version) return { link, hello }
  }
  link.close()
  return undefined
}

/** Opens the socket of the agent. Returns undefined if the host does not open it in time. */
async function dialWithTimeout(
  remote: Remote,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<AgentLink | undefined> {
  const deadline = startDeadline(signal, timeoutMs, () => new Error('the socket was not opened in time'))
  try {
    return await dialAgent(remote, deadline.signal)
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.signal.aborted) return undefined
    throw error
  } finally {
    // The signal of an open link is never aborted by the timeout.
    deadline.clear()
  }
}

/** Returns undefined if the agent does not answer in time, or not in a way that this release understands. */
async function requestHello(link: AgentLink, timeoutMs: number): Promise<RunningAgent['hello'] | undefined> {
  // At the timeout the link is closed, which makes the pending request fail.
  const timer = setTimeout(() => link.close(), timeoutMs)
  try {
    return await link.request({ type: 'hello' }, 'hello')
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
