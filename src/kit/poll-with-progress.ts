import { setTimeout as sleep } from 'node:timers/promises'

/** An unchanged reason is reported again after this time, to show that the wait continues. */
const repeatMs = 5000

export interface ProgressPollOptions {
  /** Called with the reason why the wait is not over, and the start time of the wait. */
  readonly report: (reason: string, since: string) => Promise<void> | void
  /** Builds the error that is thrown after the deadline. */
  readonly toTimeoutError: (reason: string) => Promise<Error> | Error
  readonly now: () => Date
  /** End of the wait, in milliseconds since 1970. */
  readonly deadline: number
  /** Milliseconds between two checks. */
  readonly intervalMs: number
  readonly signal: AbortSignal
}

/** Polls until findPendingReason returns undefined, and reports the current reason meanwhile. */
export async function pollWithProgress(
  findPendingReason: () => Promise<string | undefined>,
  { report, toTimeoutError, now, deadline, intervalMs, signal }: ProgressPollOptions,
): Promise<void> {
  const since = now().toISOString()
  let reported = { reason: '', time: 0 }
  for (;;) {
    const reason = await findPendingReason()
    if (reason === undefined) return
    signal.throwIfAborted()
    const time = now().getTime()
    if (time > deadline) throw await toTimeoutError(reason)
    if (reason !== reported.reason || time - reported.time > repeatMs) {
      await report(reason, since)
      reported = { reason, time }
    }
    await sleep(intervalMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
