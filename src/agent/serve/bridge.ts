import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { lines } from './lines.ts'

/** Carries requests to the agent of this host and its answers back, until there are no more requests. */
export async function bridge(
  path: string,
  requests: Readable,
  answer: (line: string) => void,
): Promise<void> {
  const socket = connect({ path, allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', (cause) => reject(notThere(path, cause)))
  })
  const sent = pipeline(requests, socket)
  // Whoever asks may be gone before the last answer, which is no fault of the agent.
  sent.catch(() => socket.destroy())
  for await (const line of lines(socket)) answer(`${line}\n`)
}

function notThere(path: string, cause: Error): HyperkubeError {
  const silent = hasCode(cause, 'ENOENT') || hasCode(cause, 'ECONNREFUSED')
  return new HyperkubeError('AGENT_NOT_THERE', `no agent listens at ${path}`, {
    hint: silent ? 'systemctl status hyperkube-agent' : 'the agent speaks with root alone: try sudo',
    cause,
  })
}
