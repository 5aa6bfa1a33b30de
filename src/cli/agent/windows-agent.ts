import { openMemory } from '../../agent/heal/memory.ts'
import { windowsWork } from '../../agent/serve/windows-work.ts'
import { windowsHost } from '../../agent/windows/host/windows-host.ts'
import { windowsHealer } from '../../agent/windows/keep/windows-healer.ts'
import { thisWindows } from '../../agent/windows/host/this-windows.ts'
import { paces } from '../../agent/windows/recover/pace.ts'
import { windowsNumbers } from '../windows/windows-numbers.ts'
import type { WiredAgent } from './wired-agent.ts'

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
