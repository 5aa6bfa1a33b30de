import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import type { Fault } from './simulator/faults.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import type { Host } from '../hosts/host.ts'
import type { Lab } from '../hosts/lab.ts'
import { furnishWindows } from './set-up-host.ts'
import { program } from './paths.ts'

/** Makes and starts hosts that whoever comes by ssh takes for Windows. */
export async function upWindows(lab: Lab, names: readonly string[]): Promise<Host[]> {
  const hosts = await lab.up(names)
  const directory = await mkdtemp(join(tmpdir(), 'windows-host-'))
  try {
    const wish = { entry: 'lab/windows/main.ts', output: 'windows-host' }
    const executable = await buildExecutable(ownTarget(), directory, undefined, wish)
    await settleAll(hosts.map(async (host) => furnishWindows(host, lab.network, executable)))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return hosts
}

/** All that a reset has to give back, as one document. */
export async function lookAtWindows(host: Host): Promise<unknown> {
  return JSON.parse((await host.exec([program, 'look'])).stdout)
}

/** One of the simulator's faults happens to a host. */
export async function inflictOn(host: Host, { name, role }: Fault): Promise<void> {
  await host.exec([program, 'inflict', name, role])
}

/** Somebody takes a rule of the firewall away. */
export async function removeRule(host: Host, name: string): Promise<void> {
  await host.exec([program, 'remove-rule', name])
}
