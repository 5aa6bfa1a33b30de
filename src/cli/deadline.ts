import { InvalidArgumentError } from 'commander'
import { duration, parseDuration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'

/** Node's timers go off at once when they are set for longer. */
const longest = 2 ** 31 - 1

/** What stands after --timeout, in milliseconds. */
export function timeoutFlag(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) throw new InvalidArgumentError('write it as 30s, 5m or 1h30m')
  if (milliseconds > longest) throw new InvalidArgumentError('24 days are the most')
  return milliseconds
}

/**
 * Gives an act so much time. It learns through its signal that the time is over, and is waited for all the same: it may
 * have something to finish.
 */
export async function withDeadline<T>(
  milliseconds: number | undefined,
  signal: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (milliseconds === undefined) return act(signal)
  const late = new HyperkubeError('TIMEOUT', `it did not end within ${duration(milliseconds)}`, {
    hint: 'a longer --timeout gives it more time; without one it takes what it needs',
  })
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(late), milliseconds)
  try {
    return await act(AbortSignal.any([signal, deadline.signal]))
  } catch (error) {
    // Whatever it made of being stopped, what counts is why.
    throw deadline.signal.aborted ? late : error
  } finally {
    clearTimeout(timer)
  }
}
