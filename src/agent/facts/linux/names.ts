import { readRequiredFile } from '../source.ts'
import type { Fact } from './fact.ts'

export const readHostname: Fact<'hostname'> = async (source) =>
  (await readRequiredFile(source, '/proc/sys/kernel/hostname')).trim()

export const readMachineId: Fact<'machineId'> = async ({ readFile }) =>
  parseMachineId((await readFile('/etc/machine-id')) ?? '')

/**
 * Parses /etc/machine-id. Before its first boot an image may contain `uninitialized`, which is not an id,
 * because all copies share it.
 */
export function parseMachineId(text: string): string {
  return /^[0-9a-f]{32}$/.exec(text.trim())?.[0] ?? ''
}
