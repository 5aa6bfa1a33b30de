import type { Claim } from '../../contract/request.ts'

/** The operator lock as the agent stores it on disk. */
export interface HeldOperatorLock extends Claim {
  /** Time of the holder's last request, in milliseconds since 1970. */
  readonly lastHeartbeat: number
  readonly released: boolean
}

/**
 * A holder without a heartbeat for this long has lost the lock: its process was killed or is disconnected.
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
  const isGone = held.released || (!busy && now - held.lastHeartbeat > lockTimeoutMs)
  return isGone || force
    ? { outcome: 'granted', held: granted }
    : { outcome: 'refused', reason: 'held', held }
}

/** True if an operator holds the lock and sent a heartbeat recently. */
export function isLockHeld(held: HeldOperatorLock | undefined, now: number): boolean {
  return held !== undefined && !held.released && now - held.lastHeartbeat <= lockTimeoutMs
}

/** True if the claim of a request is the current one. */
export function matchesHeldClaim(held: HeldOperatorLock | undefined, { holder, generation }: Claim): boolean {
  return held !== undefined && !held.released && held.holder === holder && held.generation === generation
}
