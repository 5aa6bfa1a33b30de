import { openMemory } from '../../agent/heal/heal-state-store.ts'
import { windowsWork } from '../../agent/host-operations/windows-operations.ts'
import { windowsHost } from '../../agent/windows/host/windows-host.ts'
import { windowsHealer } from '../../agent/windows/heal/windows-healer.ts'
import { thisWindows } from '../../agent/windows/host/this-windows.ts'
import { paces } from '../../agent/windows/reconcile/backoff.ts'
import { windowsNumbers } from '../windows/system-info.ts'
import type { WiredAgent } from './platform-agent.ts'

export async function windowsAgent(version: string, base: string): Promise<WiredAgent> {
  const windows = await thisWindows()
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  const { host, probes } = windowsHost({ version, base, operations: windows.host, systemRoot })
  return {
    host,
    work: windowsWork(host, windowsNumbers()),
    ask: probes.ask,
    healer: async (scene) =>
      windowsHealer({
        ...scene,
        host,
        memory: await openMemory(host),
        pace: paces[scene.ladder],
        random: Math.random,
      }),
    async [Symbol.asyncDispose]() {
      probes[Symbol.dispose]()
      await windows[Symbol.asyncDispose]()
    },
  }
}
