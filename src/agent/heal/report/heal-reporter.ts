import type { HealAction } from '../../../contract/health.ts'
import { Counters } from './heal-counters.ts'
import { type EventScene, NodeEvents } from './node-events.ts'
import { lineOf } from './action-text.ts'

export interface TellScene extends EventScene {
  readonly say: (text: string) => void
}

export interface Teller {
  /** What is in the journal already, to all others: the agent's log, the metrics, the cluster. At once, and never fails. */
  readonly tell: (action: HealAction) => void
  readonly counters: Counters
}

export function teller(scene: TellScene): Teller {
  const counters = new Counters()
  const events = new NodeEvents(scene)
  return {
    counters,
    tell(action) {
      scene.say(lineOf(action))
      counters.countAction(action)
      events.add(action)
    },
  }
}
