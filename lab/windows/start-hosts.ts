import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildExecutable } from '../../scripts/executable.ts'
import { currentTarget } from '../../scripts/executable/runtime.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import type { Host } from '../hosts/host.ts'
import type { Lab } from '../hosts/lab.ts'
import { hostProgram } from './paths.ts'
import { setUpWindowsHost } from './set-up-host.ts'
import type { SimulatedFault } from './simulator/faults.ts'

/** Creates and starts hosts that look like Windows to ssh clients. */
export async function startWindowsHosts(lab: Lab, names: readonly string[]): Promise<Host[]> {
  const hosts = await lab.up(names)
  const directory = await mkdtemp(join(tmpdir(), 'windows-host-'))
  try {
    const programOptions = { entry: 'lab/windows/main.ts', output: 'windows-host' }
    const executable = await buildExecutable(currentTarget(), directory, undefined, programOptions)
    await settleAll(hosts.map(async (host) => setUpWindowsHost(host, lab.network, executable)))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return hosts
}

/** Reads all state that a reset must restore, as one document. */
export async function readMachineSummary(host: Host): Promise<unknown> {
  return JSON.parse((await host.exec([hostProgram, 'summarize'])).stdout)
}

/** Injects a fault into a simulated host. */
export async function injectFaultOn(host: Host, { name, role }: SimulatedFault): Promise<void> {
  await host.exec([hostProgram, 'inflict', name, role])
}

/** Removes a firewall rule of the host, as an operator could do. */
export async function removeFirewallRule(host: Host, name: string): Promise<void> {
  await host.exec([hostProgram, 'remove-rule', name])
}
