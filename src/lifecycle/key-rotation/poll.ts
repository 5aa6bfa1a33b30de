import { pollWithProgress, type ProgressPollOptions } from '../../kit/poll-with-progress.ts'

/** How to wait and where to report it. */
export interface RotationWaitOptions extends Pick<ProgressPollOptions, 'report' | 'now' | 'signal'> {
  /** Milliseconds between two polls, unless the default applies. */
  readonly every?: number
}

/** Polls until `check` returns no reason to wait, for at most `timeoutMs` milliseconds. */
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
