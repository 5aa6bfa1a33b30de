import { hostname } from 'node:os'
import { wipeEtcd } from '../apply/etcd/wipe-etcd.ts'
import { endEtcdRestore, restoreEtcdData, findActiveRestore } from '../apply/etcd/restore-etcd-data.ts'
import { runReset } from '../apply/reset/reset.ts'
import { stopComponentServices } from '../apply/reset/stop-services.ts'
import { collectFacts } from '../facts/collect.ts'
import type { FactSource } from '../facts/source.ts'
import type { LinuxHost } from '../host/host.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import { createSharedOperations } from './shared-operations.ts'

/** Operations of an agent on a Linux host. */
export function createLinuxOperations(host: LinuxHost, source: FactSource): HostOperations {
  return {
    ...createSharedOperations(host),
    facts: async (name) => collectFacts(source, name),
    stopServices: async (request, emit, signal) =>
      stopComponentServices({ host, name: hostname(), run: request.run, emit, signal }, request),
    restoreEtcdData: async ({ run, restore, sha256 }, emit, signal) =>
      restoreEtcdData({ host, name: hostname(), run, emit, signal }, { restore, sha256 }),
    wipeEtcd: async (run, emit, signal) => wipeEtcd({ host, name: hostname(), run, emit, signal }),
    activeRestore: async () => findActiveRestore(host),
    endRestore: async (id) => endEtcdRestore(host, id),
    reset: async (run, emit, signal) =>
      (await runReset({ host, name: hostname(), run, emit, signal })).exitHook,
  }
}
