import type { HealAction } from '../../../contract/health.ts'

/** A counter value and its labels. */
export interface LabeledCount<Labels> {
  readonly labels: Labels
  readonly count: number
}

export interface ActionLabels {
  readonly component: string
  readonly action: HealAction['action']
  readonly outcome: HealAction['outcome']
}

export interface ProbeLabels {
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
