import { hostname } from 'node:os'
import { HyperkubeError } from '../../kit/errors.ts'
import { runReset } from '../apply/reset/reset.ts'
import { stopComponentServices } from '../apply/reset/stop-services.ts'
import { collectWindowsFacts } from '../facts/windows/collect.ts'
import type { WindowsFactSource } from '../facts/windows/source.ts'
import type { WindowsHost } from '../host/host.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import { createSharedOperations } from './shared-operations.ts'

/** Operations of an agent on a Windows host, which is a worker and never an etcd member. */
export function createWindowsOperations(
  host: WindowsHost,
  source: Omit<WindowsFactSource, 'operations' | 'base'>,
): HostOperations {
  const { operations, layout } = host
  const noEtcd = async (): Promise<never> => {
    throw new HyperkubeError('WINDOWS_NO_ETCD', 'a Windows host is never a member of etcd', {
      hint: 'hyperkube status names the members',
    })
  }
  return {
    ...createSharedOperations(host),
    facts: async (name) => collectWindowsFacts({ ...source, operations, base: layout.base }, name),
    stopServices: async (request, emit, signal) =>
      stopComponentServices({ host, name: hostname(), run: request.run, emit, signal }, request),
    restoreEtcdData: noEtcd,
    wipeEtcd: noEtcd,
    activeRestore: async () => undefined,
    endRestore: noEtcd,
    reset: async (run, emit, signal) =>
      (await runReset({ host, name: hostname(), run, emit, signal })).exitHook,
  }
}
