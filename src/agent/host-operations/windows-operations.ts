import { hostname } from 'node:os'
import { HyperkubeError } from '../../kit/errors.ts'
import { reset } from '../apply/reset/reset.ts'
import { stopServices } from '../apply/reset/stop-services.ts'
import { collectWindowsFacts } from '../facts/windows/collect.ts'
import type { WindowsSource } from '../facts/windows/source.ts'
import type { WindowsHost } from '../host/host.ts'
import type { HostWork } from '../server/dispatch.ts'
import { sharedWork } from './shared-operations.ts'

/** What an agent does on the Windows host that it runs on. Such a host is a worker, and never a member of etcd. */
export function windowsWork(host: WindowsHost, source: Omit<WindowsSource, 'operations' | 'base'>): HostWork {
  const { operations, layout } = host
  const noEtcd = async (): Promise<never> => {
    throw new HyperkubeError('WINDOWS_NO_ETCD', 'a Windows host is never a member of etcd', {
      hint: 'hyperkube status names the members',
    })
  }
  return {
    ...sharedWork(host),
    facts: async (name) => collectWindowsFacts({ ...source, operations, base: layout.base }, name),
    stopServices: async (ask, emit, signal) =>
      stopServices({ host, name: hostname(), run: ask.run, emit, signal }, ask),
    placeEtcd: noEtcd,
    clearEtcd: noEtcd,
    restoring: async () => undefined,
    endRestore: noEtcd,
    reset: async (run, emit, signal) => (await reset({ host, name: hostname(), run, emit, signal })).farewell,
  }
}
