import type { Claim } from '../../contract/request.ts'

/** A claim as an agent remembers it, also over its own restarts. */
export interface HeldClaim extends Claim {
  /** When its holder was last heard of: milliseconds since 1970. */
  readonly heard: number
  readonly released: boolean
}

/** A holder of whom nothing is heard for so long is gone: killed, or cut off. */
export const silence = 60_000

export type ClaimDecision =
  | { readonly verdict: 'granted'; readonly held: HeldClaim }
  | {
      readonly verdict: 'refused'
      readonly reason: 'held' | 'outdated'
      /** Who has it, or had it last. */
      readonly held: HeldClaim
    }

/** Whether somebody may have the claim. Generations only ever rise, so that whoever had an older one is known by it. */
export function decideClaim(
  held: HeldClaim | undefined,
  { holder, generation }: Claim,
  force: boolean,
  now: number,
  /** Whether the host is at work for the holder: then it need not be heard of. */
  busy: boolean,
): ClaimDecision {
  const granted = { holder, generation, heard: now, released: false }
  if (held === undefined) return { verdict: 'granted', held: granted }
  if (generation < held.generation) return { verdict: 'refused', reason: 'outdated', held }
  if (held.holder === holder) return { verdict: 'granted', held: granted }
  if (generation === held.generation) return { verdict: 'refused', reason: 'held', held }
  const gone = held.released || (!busy && now - held.heard > silence)
  return gone || force ? { verdict: 'granted', held: granted } : { verdict: 'refused', reason: 'held', held }
}

/** Whether there is somebody who may change the cluster through this host, and was heard of lately. */
export function isHeld(held: HeldClaim | undefined, now: number): boolean {
  return held !== undefined && !held.released && now - held.heard <= silence
}

/** Whether a request that carries a claim may be heard. */
export function carries(held: HeldClaim | undefined, { holder, generation }: Claim): boolean {
  return held !== undefined && !held.released && held.holder === holder && held.generation === generation
}
