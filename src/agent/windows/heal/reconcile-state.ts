import { workerStateFormat } from '../../../contract/worker-state.ts'
import { readState, writeState } from '../../apply/state-file.ts'
import type { WindowsHost } from '../../host/host.ts'
import { emptyReconcileState, type ReconcileState } from '../reconcile/worker-observation.ts'

const file = 'worker.json'

/** Reads the stored state. Invalid state is ignored, so services may be started once too often. */
export async function readReconcileState(host: WindowsHost): Promise<ReconcileState> {
  const {
    apiVersion: _version,
    kind: _kind,
    ...state
  } = (await readState(host, file, workerStateFormat)) ?? {
    ...emptyReconcileState,
    apiVersion: '',
    kind: '',
  }
  return state
}

export async function writeReconcileState(host: WindowsHost, state: ReconcileState): Promise<void> {
  await writeState(host, file, { apiVersion: 'hyperkube.dev/v1', kind: 'WorkerState', ...state })
}
