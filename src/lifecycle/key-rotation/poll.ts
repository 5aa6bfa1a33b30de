import { pollWithProgress, type ProgressPollOptions } from '../../kit/poll.ts'

/** How to wait during a key rotation, and where to report the reason. */
export interface RotationWaitOptions extends Pick<ProgressPollOptions, 'report' | 'now' | 'signal'> {
  /** Milliseconds between two polls. Undefined means the default. */
  readonly every?: number
}

/**
 * Polls until `check` returns undefined, for at most `timeoutMs` milliseconds. A returned text is the reason
 * for waiting.
 */
export async function pollRotation(
  { every = 1000, ...options }: RotationWaitOptions,
  timeoutMs: number,
  check: () => Promise<string | undefined>,
  toTimeoutError: ProgressPollOptions['toTimeoutError'],
): Promise<void> {
  await pollWithProgress(check, {
    ...options,
    intervalMs: every,
    toTimeoutError,
    deadline: options.now().getTime() + timeoutMs,
  })
}
