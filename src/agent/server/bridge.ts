import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { agentPipe } from '../windows/agent-pipe.ts'
import { lines } from './lines.ts'

export interface BridgeOptions {
  readonly path: string
  readonly requests: Readable
  readonly answer: (line: string) => void
  readonly signal: AbortSignal
}

/** Carries requests to the agent of this host and its answers back, until there are no more of either. */
export async function bridge({ path, requests, answer, signal }: BridgeOptions): Promise<void> {
  signal.throwIfAborted()
  const socket = connect({ path, allowHalfOpen: true, signal })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', (cause) => reject(notThere(path, cause)))
  })
  const sent = pipeline(requests, socket)
  // Whoever asks may be gone before the last answer, which is no fault of the agent.
  sent.catch(() => socket.destroy())
  try {
    for await (const line of lines(socket)) answer(`${line}\n`)
  } finally {
    // An agent that has hung up answers nothing any more, though there may be who asks.
    socket.destroy()
    requests.destroy()
  }
}

function notThere(path: string, cause: Error): HyperkubeError {
  const silent = hasCode(cause, 'ENOENT') || hasCode(cause, 'ECONNREFUSED')
  return new HyperkubeError('AGENT_NOT_THERE', `no agent listens at ${path}`, {
    hint: hintFor(path, silent),
    cause,
  })
}

function hintFor(path: string, silent: boolean): string {
  if (path === agentPipe)
    return silent ? 'sc.exe query hyperkube-agent' : 'the agent speaks with administrators alone'
  return silent ? 'systemctl status hyperkube-agent' : 'the agent speaks with root alone: try sudo'
}
