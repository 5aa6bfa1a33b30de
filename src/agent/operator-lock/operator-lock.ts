import type { Claim } from '../../contract/request.ts'
import type { Host } from '../host/host.ts'
import type { HostOperations } from '../runs/host-operations.ts'

/** The operator lock as the agent stores it on disk. */
export interface HeldOperatorLock extends Claim {
  /** Time of the holder's last request, in milliseconds since 1970. */
  readonly lastHeartbeat: number
  readonly released: boolean
}

/**
 * A holder without a heartbeat for this many milliseconds has lost the lock: its process was killed or is
 * disconnected. The client renews the lock every `renewalIntervalMs`
 * (src/lifecycle/agents/hold-operator-lock.ts).
 */
export const lockTimeoutMs = 60_000

export type LockDecision =
  | { readonly outcome: 'granted'; readonly held: HeldOperatorLock }
  | {
      readonly outcome: 'refused'
      readonly reason: 'held' | 'outdated'
      /** The lock of the current or last holder. */
      readonly held: HeldOperatorLock
    }

/**
 * Decides whether an operator may take the lock. Generations only increase, so an outdated claim is
 * recognized by its lower generation.
 */
export function decideLock(
  held: HeldOperatorLock | undefined,
  { holder, generation }: Claim,
  force: boolean,
  now: number,
  /** True while a run for the holder is active. The holder then needs no heartbeat. */
  busy: boolean,
): LockDecision {
  const granted = { holder, generation, lastHeartbeat: now, released: false }
  if (held === undefined) return { outcome: 'granted', held: granted }
  if (generation < held.generation) return { outcome: 'refused', reason: 'outdated', held }
  if (held.holder === holder) return { outcome: 'granted', held: granted }
  if (generation === held.generation) return { outcome: 'refused', reason: 'held', held }
  const isGone = held.released || (!busy && isTimedOut(held, now))
  return isGone || force
    ? { outcome: 'granted', held: granted }
    : { outcome: 'refused', reason: 'held', held }
}

/** True if an operator holds the lock and sent a heartbeat recently. */
export function isLockHeld(held: HeldOperatorLock | undefined, now: number): boolean {
  return held !== undefined && !held.released && !isTimedOut(held, now)
}

/**
 * True if the holder sent no heartbeat in time. A heartbeat in the future means that the clock was set back. The
 * lock must not be held until the clock reaches that time, because it suspends healing and renewal.
 */
function isTimedOut({ lastHeartbeat }: HeldOperatorLock, now: number): boolean {
  return Math.abs(now - lastHeartbeat) > lockTimeoutMs
}

/** True if the claim of a request is the current one. */
export function matchesHeldClaim(held: HeldOperatorLock | undefined, { holder, generation }: Claim): boolean {
  return held !== undefined && !held.released && held.holder === holder && held.generation === generation
}

export interface LockedByOtherDeps {
  readonly host: Pick<Host, 'clock'>
  readonly work: Pick<HostOperations, 'activeRestore'>
  readonly claims: { readonly held: HeldOperatorLock | undefined }
}

/**
 * True if an operator holds the lock or an etcd restore is active. The agent must then start nothing by
 * itself.
 */
export async function isLockedByOther({ host, work, claims }: LockedByOtherDeps): Promise<boolean> {
  const restoring = (await work.activeRestore()) !== undefined
  // The lock is checked last and without an await, so that no operator can take it between this check and the
  // caller's next action.
  return restoring || isLockHeld(claims.held, host.clock.now().getTime())
}
