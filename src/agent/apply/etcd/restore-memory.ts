import { type EtcdRestoreState, etcdRestoreStateFormat } from '../../../contract/etcd-restore-state.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import type { LinuxHost } from '../../host/host.ts'
import { statePath, writeState } from '../state-file.ts'

const restoreStateFile = 'etcd-restore.json'

export type RestoreState = Omit<EtcdRestoreState, 'apiVersion' | 'kind'>

/** Throws if the file is unreadable: that does not mean that no restore is active. */
export async function readRestoreState(host: LinuxHost): Promise<RestoreState | undefined> {
  const text = await host.files.read(statePath(host, restoreStateFile))
  if (text === undefined) return undefined
  const document = readVersioned(etcdRestoreStateFormat, JSON.parse(text.toString('utf8')))
  const { apiVersion: _, kind: __, ...state } = document
  return state
}

export async function writeRestoreState(host: LinuxHost, state: RestoreState): Promise<void> {
  const document: EtcdRestoreState = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'EtcdRestoreState',
    ...state,
  }
  await writeState(host, restoreStateFile, document)
}

export async function deleteRestoreState(host: LinuxHost): Promise<void> {
  await host.files.remove(statePath(host, restoreStateFile))
}
