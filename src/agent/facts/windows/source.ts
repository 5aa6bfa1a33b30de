import type { Facts } from '../../../contract/facts.ts'
import type { WindowsOperations } from '../../windows/operations/windows-operations.ts'
import type { FactSource, Space } from '../source.ts'

export type WindowsFacts = Extract<Facts['system'], { os: 'windows' }>

/** A Windows host as facts see it. */
export interface WindowsSource {
  readonly operations: Pick<
    WindowsOperations,
    'system' | 'adapters' | 'routes' | 'networks' | 'services' | 'processes' | 'ports'
  >
  /** Where all of ours is. */
  readonly base: string
  /** As Node calls it: x64, arm64. */
  readonly arch: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly now: () => Date
  /** Of the file system that a path is on. */
  readonly space: (path: string) => Promise<Space | undefined>
}

/** What Node knows beside that of a Windows whose PowerShell does not answer. */
export interface BareSource extends WindowsSource {
  /** As Node calls it: 10.0.20348. */
  readonly release: string
  readonly hostname: string
  /** Of the interfaces that are up, by their names. */
  readonly interfaces: FactSource['interfaces']
}
