import { type EtcdRestoreMemory, etcdRestoreMemoryFormat } from '../../../contract/etcd-restore-state.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import type { LinuxHost } from '../../host/host.ts'
import { statePath, writeState } from '../state-file.ts'

const file = 'etcd-restore.json'

export type RestoreMemory = Omit<EtcdRestoreMemory, 'apiVersion' | 'kind'>

/** One that cannot be read is no reason to think that nothing is being restored. */
export async function readMemory(host: LinuxHost): Promise<RestoreMemory | undefined> {
  const text = await host.files.read(statePath(host, file))
  if (text === undefined) return undefined
  const document = readVersioned(etcdRestoreMemoryFormat, JSON.parse(text.toString('utf8')))
  const { apiVersion: _, kind: __, ...known } = document
  return known
}

export async function writeMemory(host: LinuxHost, known: RestoreMemory): Promise<void> {
  const document: EtcdRestoreMemory = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'EtcdRestoreMemory',
    ...known,
  }
  await writeState(host, file, document)
}

export async function forgetMemory(host: LinuxHost): Promise<void> {
  await host.files.remove(statePath(host, file))
}
