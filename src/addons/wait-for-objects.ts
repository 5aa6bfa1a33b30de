import { HyperkubeError } from '../kit/errors.ts'
import { pollWithProgress } from '../kit/poll.ts'

const maxNamed = 5

export interface AddonWaitOptions {
  /** Called with a description of the pending objects. */
  readonly emit: (what: { readonly type: 'waiting'; readonly for: string; readonly since: string }) => void
  readonly now: () => Date
  /** Time at which the wait fails, in milliseconds on the clock of `now`. */
  readonly deadline: number
  readonly signal: AbortSignal
  /** Number of nodes that are not ready. A DaemonSet counts as ready without its pods on these nodes. */
  readonly notReadyCount?: number
  /** Milliseconds between two checks. */
  readonly intervalMs?: number
}

/** An object that is not yet ready or not yet removed. */
export interface PendingObject {
  readonly name: string
  readonly reason: string
  /** Requests the cause of `reason` from the API. Called only for objects that a message names. */
  readonly explain?: () => Promise<string | undefined>
}

export interface WaitGoal {
  readonly addon: string
  readonly code: 'ADDON_NOT_READY' | 'ADDON_NOT_REMOVED'
  readonly hint: string
}

/** Repeats the check until no object is pending. Reports the pending objects while it waits. */
export async function waitUntilNonePending(
  findPending: () => Promise<readonly PendingObject[]>,
  { addon, code, hint }: WaitGoal,
  { emit, now, deadline, signal, intervalMs = 500 }: AddonWaitOptions,
): Promise<void> {
  let pending: readonly PendingObject[] = []
  const formatReasons = async (): Promise<string | undefined> => {
    pending = await findPending()
    if (pending.length === 0) return undefined
    return pending.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
  }
  await pollWithProgress(formatReasons, {
    report: async (_, since) =>
      emit({ type: 'waiting', for: `addon ${addon}: ${await formatPending(pending, 1)}`, since }),
    toTimeoutError: async () =>
      new HyperkubeError(code, `addon ${addon}: ${await formatPending(pending, maxNamed)}`, { hint }),
    now,
    deadline,
    intervalMs,
    signal,
  })
}

async function formatPending(pending: readonly PendingObject[], max: number): Promise<string> {
  const named = await Promise.all(
    pending.slice(0, max).map(async ({ name, reason, explain }) => {
      // If the cause cannot be found, the message still contains the reason.
      const cause = await explain?.().catch(() => undefined)
      return `${name}: ${reason}${cause === undefined ? '' : ` (${cause})`}`
    }),
  )
  const omittedCount = pending.length - named.length
  return `${named.join('; ')}${omittedCount > 0 ? `; and ${omittedCount} more` : ''}`
}
