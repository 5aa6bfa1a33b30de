import { type ProvisionalState, provisionalStateFormat } from '../../contract/provisional-state.ts'
import { readState, statePath, writeState } from '../apply/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'provisional.json'

/**
 * Undefined if there was no provisional change, or it was confirmed. An invalid file counts as none, so that
 * it causes no rollback.
 */
export async function readProvisionalState(host: Host): Promise<ProvisionalState | undefined> {
  return readState(host, file, provisionalStateFormat)
}

export async function writeProvisionalState(host: Host, state: ProvisionalState): Promise<void> {
  await writeState(host, file, state)
}

export async function deleteProvisionalState(host: Host): Promise<void> {
  await host.files.remove(statePath(host, file))
}
