import { openHealState } from '../../agent/heal/heal-state-store.ts'
import { createWindowsOperations } from '../../agent/host-operations/windows-operations.ts'
import { createWindowsHost } from '../../agent/windows/host/windows-host.ts'
import { windowsHealer } from '../../agent/windows/heal/windows-healer.ts'
import { thisWindows } from '../../agent/windows/host/this-windows.ts'
import { stepBackoffs } from '../../agent/windows/reconcile/backoff.ts'
import { readWindowsSystemInfo } from '../windows/system-info.ts'
import type { PlatformAgent } from './platform-agent.ts'

export async function createWindowsAgent(version: string, base: string): Promise<PlatformAgent> {
  const windows = await thisWindows()
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  const { host, probes } = createWindowsHost({ version, base, operations: windows.host, systemRoot })
  return {
    host,
    work: createWindowsOperations(host, readWindowsSystemInfo()),
    runProbe: probes.run,
    createHealer: async (options) =>
      windowsHealer({
        ...options,
        host,
        stateStore: await openHealState(host),
        backoff: stepBackoffs[options.healPolicy],
        random: Math.random,
      }),
    async [Symbol.asyncDispose]() {
      probes[Symbol.dispose]()
      await windows[Symbol.asyncDispose]()
    },
  }
}
