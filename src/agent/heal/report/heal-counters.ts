import type { HealAction } from '../../../contract/health.ts'

/** A figure and what it is of. */
export interface Count<Of> {
  readonly of: Of
  readonly count: number
}

export interface CountedAction {
  readonly component: string
  readonly action: HealAction['action']
  readonly outcome: HealAction['outcome']
}

export interface CountedProbe {
  readonly component: string
  readonly probe: string
}

/** What has happened since the agent started. */
export class Counters {
  readonly #actions = new Map<string, Count<CountedAction>>()
  readonly #failures = new Map<string, Count<CountedProbe>>()

  countAction({ component, action, outcome }: CountedAction): void {
    add(this.#actions, { component, action, outcome })
  }

  /** Once for every time that it was asked and has failed, whether that counts already or not. */
  countFailure({ component, probe }: CountedProbe): void {
    add(this.#failures, { component, probe })
  }

  get actions(): readonly Count<CountedAction>[] {
    return [...this.#actions.values()]
  }

  get failures(): readonly Count<CountedProbe>[] {
    return [...this.#failures.values()]
  }
}

function add<Of>(counts: Map<string, Count<Of>>, of: Of): void {
  const key = JSON.stringify(of)
  counts.set(key, { of, count: (counts.get(key)?.count ?? 0) + 1 })
}
