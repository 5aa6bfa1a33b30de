import { collectTail } from './collect.ts'
import type { Conversation } from './remote.ts'
import type { Channel } from './transport.ts'

/** A program at work, for whoever talks with it until the signal aborts. */
export function converse(channel: Channel, signal: AbortSignal): Conversation {
  const abort = (): void => channel.kill(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const tail = collectTail(channel.stderr)
  const ended = channel.ended
    .then(async (code) => ({ code, stderr: (await tail).toString('utf8') }))
    .finally(() => signal.removeEventListener('abort', abort))
  // Nobody may be waiting for it yet.
  ended.catch(() => undefined)
  return {
    stdin: channel.stdin,
    stdout: channel.stdout,
    ended,
    kill: () => channel.kill(new Error('ended by its caller')),
  }
}
