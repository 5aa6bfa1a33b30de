import { workerMemoryFormat } from '../../../contract/worker-state.ts'
import { readState, writeState } from '../../apply/state-file.ts'
import type { WindowsHost } from '../../host/host.ts'
import { noMemory, type WorkerMemory } from '../reconcile/worker-observation.ts'

const file = 'worker.json'

/** One that cannot be read is as good as none: services are then started once too often. */
export async function readWorkerMemory(host: WindowsHost): Promise<WorkerMemory> {
  const {
    apiVersion: _version,
    kind: _kind,
    ...memory
  } = (await readState(host, file, workerMemoryFormat)) ?? {
    ...noMemory,
    apiVersion: '',
    kind: '',
  }
  return memory
}

export async function writeWorkerMemory(host: WindowsHost, memory: WorkerMemory): Promise<void> {
  await writeState(host, file, { apiVersion: 'hyperkube.dev/v1', kind: 'WorkerMemory', ...memory })
}
