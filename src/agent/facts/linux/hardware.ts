import { posix } from 'node:path'
import { HyperkubeError } from '../../../kit/errors.ts'
import {
  type Fact,
  type FactSource,
  type FileSystemSpace,
  type LinuxFacts,
  readRequiredFile,
} from '../source.ts'

const architectures = new Map<string, LinuxFacts['arch']>([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
])

export const readArch: Fact<'arch'> = async (source) => {
  const found = architectures.get(source.arch)
  if (found !== undefined) return found
  throw new HyperkubeError(
    'FACTS_NOT_TAKEN',
    `hyperkube does not support the CPU architecture ${source.arch}`,
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

/** The root directory and the directories in which components store growing data. */
const directories = ['/', '/var/lib/etcd', '/var/lib/containerd', '/var/lib/kubelet']

export const readDisks: Fact<'disks'> = async (source) => {
  const spaces = await Promise.all(
    directories.map(async (path) => ({ path, ...(await readNearestSpace(source, path)) })),
  )
  return spaces.map(({ path, totalBytes = 0, availableBytes = 0 }) => ({ path, totalBytes, availableBytes }))
}

/**
 * Reads the space of the disk on which a directory is. A directory that does not exist yet will be on the
 * disk of its closest existing parent.
 */
async function readNearestSpace(source: FactSource, path: string): Promise<FileSystemSpace | undefined> {
  const space = await source.space(path)
  if (space !== undefined || path === '/') return space
  return readNearestSpace(source, posix.dirname(path))
}

export const readSwap: Fact<'swap'> = async ({ readFile }) => hasSwap((await readFile('/proc/swaps')) ?? '')

/** True if /proc/swaps lists a swap area after its heading. */
export function hasSwap(text: string): boolean {
  return text.trim().split('\n').length > 1
}
