import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { readLines } from '../../kit/lines.ts'

export interface BridgeOptions {
  readonly path: string
  readonly requests: Readable
  readonly onResponse: (line: string) => void
  readonly signal: AbortSignal
}

/** Forwards requests to the agent of this host and returns its responses, until one side ends. */
export async function bridgeToAgent({ path, requests, onResponse, signal }: BridgeOptions): Promise<void> {
  signal.throwIfAborted()
  const socket = connect({ path, allowHalfOpen: true, signal })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', (cause) => reject(agentNotListening(path, cause)))
  })
  const sent = pipeline(requests, socket)
  // The client may disconnect before the last response. That is not an error of the agent.
  sent.catch(() => socket.destroy())
  try {
    for await (const line of readLines(socket)) onResponse(`${line}\n`)
  } finally {
    // If the agent closed the connection, no more responses follow, so the client's requests are not read any
    // more.
    socket.destroy()
    requests.destroy()
  }
}

function agentNotListening(path: string, cause: Error): HyperkubeError {
  const notListening = hasCode(cause, 'ENOENT') || hasCode(cause, 'ECONNREFUSED')
  return new HyperkubeError('AGENT_NOT_THERE', `no agent listens at ${path}`, {
    hint: hintFor(path, notListening),
    cause,
  })
}

function hintFor(path: string, notListening: boolean): string {
  if (path === agentPipe)
    return notListening ? 'sc.exe query hyperkube-agent' : 'only administrators can connect to the agent'
  return notListening ? 'systemctl status hyperkube-agent' : 'only root can connect to the agent: use sudo'
}

/** Named pipe of the agent on a Windows host. Only administrators can connect. */
export const agentPipe = String.raw`\\.\pipe\hyperkube-agent`
