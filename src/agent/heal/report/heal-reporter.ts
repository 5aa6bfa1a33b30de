import type { HealAction } from '../../../contract/health.ts'
import { HealCounters } from './heal-counters.ts'
import { type NodeEventsDeps, NodeEvents } from './node-events.ts'
import { formatLogLine } from './action-text.ts'

export interface HealReporterDeps extends NodeEventsDeps {
  readonly log: (text: string) => void
}

export interface HealReporter {
  /** Reports an action to the agent's log, the metrics and the cluster. Returns at once and never fails. */
  readonly report: (action: HealAction) => void
  readonly counters: HealCounters
}

export function createHealReporter(deps: HealReporterDeps): HealReporter {
  const counters = new HealCounters()
  const events = new NodeEvents(deps)
  return {
    counters,
    report(action) {
      deps.log(formatLogLine(action))
      counters.countAction(action)
      events.add(action)
    },
  }
}
