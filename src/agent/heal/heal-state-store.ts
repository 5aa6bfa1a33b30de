import { type HealMemory, healMemoryFormat } from '../../contract/heal-state.ts'
import { inTurns } from '../../kit/mutex.ts'
import { readState, writeState } from '../apply/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'heal.json'

/** What healing remembers: at hand, and on the disk for the agent that comes after this one. */
export interface KeptMemory {
  readonly now: HealMemory
  /** At once for whoever asks; on the disk when the answer is there. */
  change(next: (memory: HealMemory) => HealMemory): Promise<void>
}

/** One that cannot be read is as good as none: what is not well then begins at its first rung. */
export async function openMemory(host: Host): Promise<KeptMemory> {
  let memory = (await readState(host, file, healMemoryFormat)) ?? nothing
  const turns = inTurns()
  return {
    get now() {
      return memory
    },
    async change(next) {
      const changed = next(memory)
      if (same(changed, memory)) return
      memory = changed
      await turns(async () => writeState(host, file, memory))
    },
  }
}

const nothing: HealMemory = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'HealMemory',
  climbs: {},
  spent: [],
  actions: [],
}

function same(one: HealMemory, other: HealMemory): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
