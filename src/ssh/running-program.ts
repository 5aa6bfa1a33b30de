import { collectOutputTail } from './collect.ts'
import type { RunningProgram } from './remote.ts'
import type { Channel } from './transport.ts'

/** Creates a RunningProgram from a channel. An abort of the signal kills the program. */
export function wrapProgram(channel: Channel, signal: AbortSignal): RunningProgram {
  const abort = (): void => channel.kill(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const tail = collectOutputTail(channel.stderr)
  const ended = channel.ended
    .then(async (code) => ({ code, stderr: (await tail).toString('utf8') }))
    .finally(() => signal.removeEventListener('abort', abort))
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  return {
    stdin: channel.stdin,
    stdout: channel.stdout,
    ended,
    kill: () => channel.kill(new Error('ended by its caller')),
  }
}
