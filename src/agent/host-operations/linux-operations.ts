import { hostname } from 'node:os'
import { clearEtcd } from '../apply/etcd/wipe-etcd.ts'
import { endRestore, placeEtcd, restoring } from '../apply/etcd/restore-etcd-data.ts'
import { reset } from '../apply/reset/reset.ts'
import { stopServices } from '../apply/reset/stop-services.ts'
import { collectFacts } from '../facts/collect.ts'
import type { FactSource } from '../facts/source.ts'
import type { LinuxHost } from '../host/host.ts'
import type { HostWork } from '../server/dispatch.ts'
import { sharedWork } from './shared-operations.ts'

/** What an agent does on the Linux host that it runs on. */
export function linuxWork(host: LinuxHost, source: FactSource): HostWork {
  return {
    ...sharedWork(host),
    facts: async (name) => collectFacts(source, name),
    stopServices: async (ask, emit, signal) =>
      stopServices({ host, name: hostname(), run: ask.run, emit, signal }, ask),
    placeEtcd: async ({ run, restore, sha256 }, emit, signal) =>
      placeEtcd({ host, name: hostname(), run, emit, signal }, { restore, sha256 }),
    clearEtcd: async (run, emit, signal) => clearEtcd({ host, name: hostname(), run, emit, signal }),
    restoring: async () => restoring(host),
    endRestore: async (id) => endRestore(host, id),
    reset: async (run, emit, signal) => (await reset({ host, name: hostname(), run, emit, signal })).farewell,
  }
}
