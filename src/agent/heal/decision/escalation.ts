import type { HealMemory } from '../../../contract/heal-state.ts'
import { elapsed } from './elapsed.ts'
import { type Ladder, type Rung, rungsFor } from './escalation-policy.ts'

export type Climb = HealMemory['climbs'][string]

/** Whoever falls again within this time goes on where they were, in milliseconds: otherwise a flapping one began anew for ever. */
const calm = 60_000

export function beginClimb(since: number): Climb {
  return { since: new Date(since).toISOString(), rung: 0, givenUp: false }
}

/** The rung that is due; undefined while it has to be waited for. */
export function dueRung(
  ladder: Ladder,
  component: string,
  climb: Climb,
  patience: number,
  now: number,
): Rung | undefined {
  const rung = climb.givenUp ? ladder.again : (rungsFor(ladder, component)[climb.rung] ?? ladder.again)
  if (climb.acted === undefined) return rung
  return elapsed(climb.acted, now) >= Math.max(rung.after, patience) ? rung : undefined
}

export function climbed(climb: Climb, rung: Rung, now: number): Climb {
  return {
    ...climb,
    rung: climb.givenUp ? climb.rung : climb.rung + 1,
    acted: new Date(now).toISOString(),
    givenUp: climb.givenUp || rung.do.includes('give-up'),
  }
}

/** Of a component that is well: nothing, once it has been so for a while. */
export function calmed(climb: Climb, now: number): Climb | undefined {
  if (climb.acted === undefined) return undefined
  if (climb.recovered === undefined) return { ...climb, recovered: new Date(now).toISOString() }
  return elapsed(climb.recovered, now) < calm ? climb : undefined
}

/** Of one that is not well, or not any more. */
export function resumed({ recovered, ...climb }: Climb, since: number): Climb {
  return recovered === undefined ? climb : { ...climb, since: new Date(since).toISOString() }
}
