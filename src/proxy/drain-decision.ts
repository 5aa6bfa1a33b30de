import type { Timing } from './timing.ts'
import { isDead, type Upstream } from './upstreams.ts'

/** When each side of a connection last said something; never is -Infinity. */
export interface Talk {
  readonly spokenAt: number
  readonly heardAt: number
  /** From 0 to 1, another one for each connection: how late it goes when all have to. */
  readonly patience: number
}

export interface Situation {
  readonly upstream: Upstream
  /** Since when it is no longer among those that may be tried. */
  readonly retiredSince: number | undefined
  /** Where else a client could go. Without such a server, any connection is better than none. */
  readonly others: readonly Upstream[]
}

/** `end` is for one with nothing in flight: its client connects again without noticing much. */
export type Parting = 'stay' | 'end' | 'cut'

/** What shall become of a connection: clients hold them for ever, and would stay with a server that is no use. */
export function parting(talk: Talk, situation: Situation, now: number, timing: Timing): Parting {
  const { upstream, retiredSince, others } = situation
  if (!others.some((other) => isBetter(other, upstream))) return 'stay'
  const unwell = upstream.health === 'unwell'
  // One that still brings something is alive, whatever we think of its server.
  const silent = talk.heardAt < (upstream.failingSince ?? now) || now - talk.heardAt >= timing.hurryWithin
  if (isDead(upstream) && silent) return 'cut'
  const patience = talk.patience * timing.spread
  // One that drains lets each of its clients end what it is at, and says goodbye by itself.
  const useless = unwell && !upstream.draining
  if (useless && now - upstream.since >= timing.unreadyGrace + patience) return 'cut'
  const leavingSince = unwell ? upstream.since : retiredSince
  if (leavingSince === undefined || now - leavingSince < patience) return 'stay'
  return isCalm(talk, now, timing.calm) ? 'end' : 'stay'
}

/** Known to be well after this one began to fail: else both may have the same trouble, and we only see it later. */
function isBetter(other: Upstream, { failingSince = -Infinity }: Upstream): boolean {
  return other.health === 'well' && (other.lastAnswer ?? -Infinity) > failingSince
}

/**
 * The server has said the last word, so long ago. That is no proof that nothing is under way: a server may say something
 * between a question and its answer. A watch is calm, too; its client takes it up elsewhere.
 */
export function isCalm({ spokenAt, heardAt }: Talk, now: number, quiet: number): boolean {
  return heardAt >= spokenAt && now - heardAt >= quiet
}
