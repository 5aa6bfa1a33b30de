import { join } from 'node:path'
import { type TrialMemory, trialMemoryFormat } from '../../contract/trial-memory.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { accessOf } from '../apply/access.ts'
import type { LinuxHost } from '../host/host.ts'

/** Nothing when nothing was tried, or it was kept. One that makes no sense is as good as none: nobody is sent back by it. */
export async function readTrial(host: LinuxHost): Promise<TrialMemory | undefined> {
  const text = await host.files.read(pathOf(host))
  if (text === undefined) return undefined
  try {
    return readVersioned(trialMemoryFormat, JSON.parse(text.toString('utf8')))
  } catch {
    return undefined
  }
}

export async function writeTrial(host: LinuxHost, memory: TrialMemory): Promise<void> {
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  await host.files.write(pathOf(host), Buffer.from(`${JSON.stringify(memory)}\n`), access)
}

export async function forgetTrial(host: LinuxHost): Promise<void> {
  await host.files.remove(pathOf(host))
}

function pathOf({ layout }: Pick<LinuxHost, 'layout'>): string {
  return join(layout.state, 'trial.json')
}
