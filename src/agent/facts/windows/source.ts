import { statfs } from 'node:fs/promises'
import { availableParallelism, hostname, networkInterfaces, release, totalmem } from 'node:os'
import type { Facts } from '../../../contract/facts.ts'
import type { WindowsOperations } from '../../host/windows-operations/table.ts'
import type { FactSource, FileSystemSpace } from '../source.ts'

export type WindowsFacts = Extract<Facts['system'], { os: 'windows' }>

/** Read access to a Windows host for collecting facts. */
export interface WindowsFactSource {
  readonly operations: Pick<
    WindowsOperations,
    'system' | 'adapters' | 'routes' | 'networks' | 'services' | 'processes' | 'ports'
  >
  /** Directory that contains everything that hyperkube installs. */
  readonly base: string
  /** Architecture in the notation of Node.js: x64, arm64. */
  readonly arch: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly now: () => Date
  /** Returns the space on the file system that contains a path. */
  readonly space: (path: string) => Promise<FileSystemSpace | undefined>
}

/** Additional data from Node.js, for a Windows host whose PowerShell does not respond. */
export interface BasicWindowsFactSource extends WindowsFactSource {
  /** Windows version in the format of Node.js, such as 10.0.20348. */
  readonly release: string
  readonly hostname: string
  /** Returns the network interfaces that are up, keyed by name. */
  readonly interfaces: FactSource['interfaces']
}

/** Reads system data with Node.js, without PowerShell. */
export function readWindowsSystemInfo(): Omit<BasicWindowsFactSource, 'operations' | 'base'> {
  return {
    arch: process.arch,
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    release: release(),
    hostname: hostname().toLowerCase(),
    interfaces: networkInterfaces,
    now: () => new Date(),
    async space(path) {
      const { bsize, blocks, bavail } = await statfs(path)
      return { totalBytes: bsize * blocks, availableBytes: bsize * bavail }
    },
  }
}
