import { pollWithProgress, type ProgressPollOptions } from '../../kit/poll.ts'

/** How to wait during a key rotation, and where to report the reason. */
export interface RotationWaitOptions extends Pick<
  ProgressPollOptions,
  'report' | 'now' | 'pause' | 'signal'
> {
  /** Milliseconds between two polls. Default: one second. */
  readonly intervalMs?: number
}

/**
 * Polls until `check` returns undefined, for at most `timeoutMs` milliseconds. A returned text is the reason
 * for waiting.
 */
export async function pollRotation(
  { intervalMs = 1000, ...options }: RotationWaitOptions,
  timeoutMs: number,
  check: () => Promise<string | undefined>,
  toTimeoutError: ProgressPollOptions['toTimeoutError'],
): Promise<void> {
  await pollWithProgress(check, {
    ...options,
    intervalMs,
    toTimeoutError,
    deadline: options.now().getTime() + timeoutMs,
  })
}
