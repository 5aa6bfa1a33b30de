import type { HealAction } from '../../../contract/health.ts'
import { formatLogLine, NodeEvents, type NodeEventsDeps } from './node-events.ts'

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

/** A counter value and its labels. */
interface LabeledCount<Labels> {
  readonly labels: Labels
  readonly count: number
}

interface ActionLabels {
  readonly component: string
  readonly action: HealAction['action']
  readonly outcome: HealAction['outcome']
}

interface ProbeLabels {
  readonly component: string
  readonly probe: string
}

/** Counts heal actions and probe failures since the agent started. */
export class HealCounters {
  readonly #actions = new Map<string, LabeledCount<ActionLabels>>()
  readonly #failures = new Map<string, LabeledCount<ProbeLabels>>()

  countAction({ component, action, outcome }: ActionLabels): void {
    increment(this.#actions, { component, action, outcome })
  }

  /** Counts a failed probe run, even if the probe does not count as unhealthy yet. */
  countFailure({ component, probe }: ProbeLabels): void {
    increment(this.#failures, { component, probe })
  }

  get actions(): readonly LabeledCount<ActionLabels>[] {
    return [...this.#actions.values()]
  }

  get failures(): readonly LabeledCount<ProbeLabels>[] {
    return [...this.#failures.values()]
  }
}

function increment<Labels>(counts: Map<string, LabeledCount<Labels>>, labels: Labels): void {
  const key = JSON.stringify(labels)
  counts.set(key, { labels, count: (counts.get(key)?.count ?? 0) + 1 })
}
