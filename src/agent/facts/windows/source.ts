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
  /** Directory that contains everything hyperkube installs. */
  readonly base: string
  /** Node's name: x64, arm64. */
  readonly arch: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly now: () => Date
  /** Space on the file system that contains a path. */
  readonly space: (path: string) => Promise<FileSystemSpace | undefined>
}

/** Additional data that Node provides on a Windows host whose PowerShell does not respond. */
export interface BasicWindowsFactSource extends WindowsFactSource {
  /** Node's format: 10.0.20348. */
  readonly release: string
  readonly hostname: string
  /** Interfaces that are up, by name. */
  readonly interfaces: FactSource['interfaces']
}
