import type { NodePlan } from '../../contract/node-plan.ts'

/** How often an agent looks, in milliseconds. */
export interface Rhythm {
  /** For the first time after it has started. */
  readonly first: number
  /** At the certificates of its host, which is seldom enough to cost nothing. */
  readonly own: number
  /** At what nodes ask for, where there are keys to sign it. */
  readonly asked: number
  /** While it waits for an answer itself, or for its host to be free. */
  readonly soon: number
}

export const usualRhythm: Rhythm = { first: 30_000, own: 600_000, asked: 60_000, soon: 15_000 }

/** Of short lives a third must be enough for several looks, too. */
const perLifetime = 12

export function lookEvery({ components }: NodePlan, { own }: Rhythm): number {
  const lifetimes = components.flatMap(({ certificates }) => certificates.map(({ lifetime }) => lifetime))
  return Math.min(own, ...lifetimes.map((lifetime) => lifetime / perLifetime))
}
