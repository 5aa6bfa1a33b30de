import type { Facts } from '../../../contract/facts.ts'
import type { WindowsOperations } from '../../windows/operations/windows-operations.ts'
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
  /** Architecture in Node's notation: x64, arm64. */
  readonly arch: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly now: () => Date
  /** Returns the space on the file system that contains a path. */
  readonly space: (path: string) => Promise<FileSystemSpace | undefined>
}

/** Additional data from Node, for a Windows host whose PowerShell does not respond. */
export interface BasicWindowsFactSource extends WindowsFactSource {
  /** Windows version in Node's format, such as 10.0.20348. */
  readonly release: string
  readonly hostname: string
  /** Returns the network interfaces that are up, keyed by name. */
  readonly interfaces: FactSource['interfaces']
}
