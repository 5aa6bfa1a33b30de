import { type TrialMemory, trialMemoryFormat } from '../../contract/provisional-state.ts'
import { readState, statePath, writeState } from '../apply/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'trial.json'

/** Nothing when nothing was tried, or it was kept. One that makes no sense is as good as none: nobody is sent back by it. */
export async function readTrial(host: Host): Promise<TrialMemory | undefined> {
  return readState(host, file, trialMemoryFormat)
}

export async function writeTrial(host: Host, memory: TrialMemory): Promise<void> {
  await writeState(host, file, memory)
}

export async function forgetTrial(host: Host): Promise<void> {
  await host.files.remove(statePath(host, file))
}
