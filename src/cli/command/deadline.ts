import { InvalidArgumentError } from 'commander'
import { formatDuration, parseDuration } from '../../kit/time-format.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/** Maximum delay of a timer in Node; a timer with a longer delay fires at once. */
const maxTimerMs = 2 ** 31 - 1

/** Parses the value of --timeout into milliseconds. */
export function parseTimeoutFlag(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined)
    throw new InvalidArgumentError('expected a duration such as 30s, 5m or 1h30m')
  if (milliseconds > maxTimerMs) throw new InvalidArgumentError('the maximum is 24 days')
  return milliseconds
}

/**
 * Runs a task with a timeout. The timeout aborts the task's signal. The task is still awaited, because it may
 * have to clean up.
 */
export async function withDeadline<T>(
  milliseconds: number | undefined,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (milliseconds === undefined) return task(signal)
  const timeoutError = new HyperkubeError(
    'TIMEOUT',
    `the command did not end within ${formatDuration(milliseconds)}`,
    {
      hint: 'run the same command with a longer --timeout, or without --timeout',
    },
  )
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(timeoutError), milliseconds)
  try {
    return await task(AbortSignal.any([signal, deadline.signal]))
  } catch (error) {
    // After a timeout, the timeout error is thrown, whatever error the aborted task threw.
    throw deadline.signal.aborted ? timeoutError : error
  } finally {
    clearTimeout(timer)
  }
}
