import { join } from 'node:path'
import { type EtcdRestoreMemory, etcdRestoreMemoryFormat } from '../../../contract/etcd-restore-memory.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import type { LinuxHost } from '../../host/host.ts'
import { accessOf } from '../access.ts'

export type RestoreMemory = Omit<EtcdRestoreMemory, 'apiVersion' | 'kind'>

export async function readMemory(host: LinuxHost): Promise<RestoreMemory | undefined> {
  const text = await host.files.read(pathOf(host))
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
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  await host.files.write(pathOf(host), Buffer.from(`${JSON.stringify(document)}\n`), access)
}

export async function forgetMemory(host: LinuxHost): Promise<void> {
  await host.files.remove(pathOf(host))
}

function pathOf({ layout }: Pick<LinuxHost, 'layout'>): string {
  return join(layout.state, 'etcd-restore.json')
}
