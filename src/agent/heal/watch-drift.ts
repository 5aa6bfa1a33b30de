import type { NodePlan } from '../../contract/node-plan.ts'
import type { Clock } from '../host/clock.ts'
import type { Danger } from './decision/component-observation.ts'
import { elapsed } from './decision/elapsed.ts'
import type { DriftSeen, Hands } from './heal-operations.ts'

/** How old what is known may be, in milliseconds. */
const rest = { calm: 60_000, troubled: 10_000 } as const

export interface ThingsSeen {
  readonly drift: DriftSeen
  readonly dangers: ReadonlyMap<string, Danger>
}

export interface ThingWatch {
  readonly now: ThingsSeen
  /** What lies on the disk, where the last look is too old for how it is now. */
  look(plan: NodePlan, how: keyof typeof rest): Promise<void>
  /** Something was done: what is known does not count any more. */
  forget(): void
}

const nothing: ThingsSeen = {
  drift: { putBack: new Map(), beyond: new Map(), stopped: new Set() },
  dangers: new Map(),
}

export function watchThings(
  { lookAtDrift, dangersOf }: Pick<Hands, 'lookAtDrift' | 'dangersOf'>,
  clock: Clock,
): ThingWatch {
  let now = nothing
  let last: { readonly plan: NodePlan; readonly at: number } | undefined
  return {
    get now() {
      return now
    },
    async look(plan, how) {
      const time = clock.now().getTime()
      if (last?.plan === plan && elapsed(last.at, time) < rest[how]) return
      const [drift, dangers] = await Promise.all([lookAtDrift(plan), dangersOf(plan)])
      now = { drift, dangers }
      last = { plan, at: time }
    },
    forget() {
      last = undefined
    },
  }
}
