import { readRequiredFile } from '../source.ts'
import type { Fact } from './fact.ts'

export const readHostname: Fact<'hostname'> = async (source) =>
  (await readRequiredFile(source, '/proc/sys/kernel/hostname')).trim()

export const readMachineId: Fact<'machineId'> = async ({ readFile }) =>
  parseMachineId((await readFile('/etc/machine-id')) ?? '')

/**
 * Until the first boot has finished, an image contains `uninitialized`, as all of its copies do: that is not
 * an id.
 */
export function parseMachineId(text: string): string {
  return /^[0-9a-f]{32}$/.exec(text.trim())?.[0] ?? ''
}
