import { HyperkubeError } from '../../../kit/errors.ts'
import { readRequiredFile } from '../source.ts'
import type { Fact, LinuxFacts } from './fact.ts'

const architectures = new Map<string, LinuxFacts['arch']>([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
])

export const readArch: Fact<'arch'> = async (source) => {
  const found = architectures.get(source.arch)
  if (found !== undefined) return found
  throw new HyperkubeError(
    'FACTS_NOT_TAKEN',
    `there is no engine for processors of the kind ${source.arch}`,
    {
      hint: 'use a host with amd64 or arm64',
    },
  )
}

/** Counts all online CPUs, as the kubelet does, not only those that this process may use. */
export const readCpus: Fact<'cpus'> = async (source) =>
  countCpus(await readRequiredFile(source, '/sys/devices/system/cpu/online'))

export const readMemoryBytes: Fact<'memoryBytes'> = async (source) =>
  parseMemory(await readRequiredFile(source, '/proc/meminfo'))

export const readClock: Fact<'clock'> = async ({ now }) => now().getTime() / 1000

/** Counts the CPUs in a list of ranges, such as 0-3,5. */
export function countCpus(text: string): number {
  return text
    .trim()
    .split(',')
    .map((range) => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0)
}

export function parseMemory(text: string): number {
  return Number(/^MemTotal:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024
}
