import { expect, test } from 'vitest'
import { emptyLedger } from '../records/ledger.ts'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { systemdServiceHandler } from './systemd-service.ts'

const cluster = { name: 'x', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' }

test('the rules of kube-proxy are removed with its service, and with no other', async () => {
  await using created = await createTemporaryHost()
  const removed: string[] = []
  const packets = {
    ...created.packets,
    tables: async () => [{ family: 'ip', name: 'kube-proxy' }],
    removeTable: async ({ name }: { name: string }) => void removed.push(name),
  }
  const context = { host: { ...created, packets }, ledger: emptyLedger(cluster) }
  const resource = { target: 'service', digest: '', sha256: '', started: true } as const
  const remove = async (name: string) =>
    systemdServiceHandler.remove({ ...resource, name, pendingChanges: [], owners: [] }, context)
  await remove('kubelet.service')
  expect(removed).toEqual([])
  await remove('kube-proxy.service')
  expect(removed).toEqual(['kube-proxy'])
})
