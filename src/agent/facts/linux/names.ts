import { readNeeded } from '../source.ts'
import type { Fact } from './fact.ts'

export const hostname: Fact<'hostname'> = async (source) =>
  (await readNeeded(source, '/proc/sys/kernel/hostname')).trim()

export const machineId: Fact<'machineId'> = async ({ readFile }) =>
  parseMachineId((await readFile('/etc/machine-id')) ?? '')

/** Before the first boot is over, an image says `uninitialized`, as all of its copies do: that is no id. */
export function parseMachineId(text: string): string {
  return /^[0-9a-f]{32}$/.exec(text.trim())?.[0] ?? ''
}
