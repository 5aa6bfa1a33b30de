import { type HealState, healStateFormat } from '../../contract/health.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { readState, writeState } from '../records/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'heal.json'

/** Keeps the heal state in memory, and on disk for the next agent process. */
export interface HealStateStore {
  readonly current: HealState
  /** Changes the state in memory at once; resolves when it is on disk. */
  update(next: (state: HealState) => HealState): Promise<void>
}

/**
 * Opens the store. An unreadable state is ignored. Escalations of unhealthy components then begin at their
 * first step again.
 */
export async function openHealState(host: Host): Promise<HealStateStore> {
  let state = (await readState(host, file, healStateFormat)) ?? emptyState
  let written = state
  const queue = createMutex()
  return {
    get current() {
      return state
    },
    async update(next) {
      const changed = next(state)
      if (!isSameState(changed, state)) state = changed
      // A state that could not be written, for example because the disk was full, is written again.
      if (written === state) return
      await queue(async () => {
        const current = state
        if (written === current) return
        await writeState(host, file, current)
        written = current
      })
    },
  }
}

const emptyState: HealState = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'HealState',
  escalations: {},
  disruptions: [],
  actions: [],
}

function isSameState(one: HealState, other: HealState): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
