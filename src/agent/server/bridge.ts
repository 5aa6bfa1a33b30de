import { connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { linuxAgentSocket } from '../../contract/host-paths.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { readLines } from '../../kit/lines.ts'

export interface BridgeOptions {
  readonly path: string
  /** Key of the agent on a Windows host; undefined on Linux, where only root can create the socket. */
  readonly key?: Buffer | undefined
  readonly requests: Readable
  readonly onResponse: (line: string) => void
  readonly signal: AbortSignal
}

/** Time in which the process at the agent's pipe must prove that it is the agent, in milliseconds. */
const handshakeTimeoutMs = 10_000

/** Forwards requests to the agent of this host and returns its responses, until one side ends. */
export async function bridgeToAgent({
  path,
  key,
  requests,
  onResponse,
  signal,
}: BridgeOptions): Promise<void> {
  signal.throwIfAborted()
  const socket = connect({ path, allowHalfOpen: true, signal })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', (cause) => reject(agentNotListening(path, cause)))
  })
  const lines = readLines(socket)
  if (key !== undefined && !(await verifyAgent(socket, lines, key))) {
    requests.destroy()
    signal.throwIfAborted()
    throw agentNotVerified(path)
  }
  const sent = pipeline(requests, socket)
  // The client may disconnect before the last response. That is not an error of the agent.
  sent.catch(() => socket.destroy())
  try {
    for await (const line of lines) onResponse(`${line}\n`)
  } finally {
    // If the agent closed the connection, no more responses follow, so the client's requests are not read any
    // more.
    socket.destroy()
    requests.destroy()
  }
}

/**
 * Returns true if the process at the other end of the connection is the agent. Otherwise closes the
 * connection and returns false.
 */
async function verifyAgent(socket: Socket, lines: AsyncGenerator<string>, key: Buffer): Promise<boolean> {
  // The module is loaded only on Windows. It parses messages with zod, and loading zod takes a third of the
  // time of a call.
  const { authenticateAgent } = await import('./handshake.ts')
  const timer = setTimeout(() => socket.destroy(), handshakeTimeoutMs)
  const isAgent = await authenticateAgent({ lines, write: (line) => socket.write(line) }, key).catch(
    () => false,
  )
  clearTimeout(timer)
  if (!isAgent) socket.destroy()
  return isAgent
}

function agentNotVerified(path: string): HyperkubeError {
  const message = `the process that serves ${path} is not the agent of this host; no request was sent`
  return new HyperkubeError('AGENT_NOT_VERIFIED', message, {
    hint: 'on the host: sc.exe query hyperkube-agent; find the process that serves the pipe, and end it',
  })
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

/**
 * Returns the path of the agent's socket, to which only root can connect. On Windows it is a named pipe for
 * administrators.
 */
export function agentSocket(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? agentPipe : linuxAgentSocket
}

/** Named pipe of the agent on a Windows host. Only administrators can connect. */
export const agentPipe = String.raw`\\.\pipe\hyperkube-agent`
