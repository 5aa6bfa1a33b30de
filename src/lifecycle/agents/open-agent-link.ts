import type { Duplex } from 'node:stream'
import { linuxAgentSocket } from '../../contract/host-paths.ts'
import type { Remote, RunningProgram } from '../../ssh/remote.ts'
import { AgentLink } from './agent-link.ts'
import { buildHostCommand, formatAgentHint } from './host-program.ts'

/**
 * Opens a connection to the agent of a host. Uses the agent's socket if the host permits it. The alternative
 * is `agent-call`, which is slower because it starts a program on the host.
 */
export async function openAgentLink(remote: Remote, signal: AbortSignal): Promise<AgentLink> {
  const direct = await dialAgent(remote, signal)
  if (direct !== undefined) return direct
  const argv = await buildHostCommand(remote, ['agent-call'], signal)
  const conversation = await remote.open(argv, { signal, root: true })
  return new AgentLink(remote.host, conversation, formatAgentHint(remote))
}

/** Connects to the socket of a running agent. Returns undefined if the host does not permit it. */
export async function dialAgent(remote: Remote, signal: AbortSignal): Promise<AgentLink | undefined> {
  const stream = await remote.dialSocket?.(linuxAgentSocket, { signal })
  return stream && new AgentLink(remote.host, toConversation(stream), formatAgentHint(remote))
}

/** Wraps a socket connection to the agent, so that it has the same interface as a running `agent-call`. */
function toConversation(stream: Duplex): RunningProgram {
  const ended = new Promise<{ readonly code: number; readonly stderr: string }>((resolve, reject) => {
    stream.on('error', reject)
    stream.once('close', () => resolve({ code: 0, stderr: '' }))
  })
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  return { stdin: stream, stdout: stream, ended, kill: () => void stream.destroy() }
}
