import type { WindowsPaths } from '../../../contract/windows-paths.ts'
import type { WindowsHost } from '../../host/host.ts'

/** A Windows host for calls that hyperkube handles without an agent. */
export interface HostCallContext {
  readonly host: WindowsHost
  readonly paths: WindowsPaths
  readonly arch: string
  /** Used share of the disk that contains a path, from 0 to 1. */
  readonly readDiskUsage: (path: string) => Promise<number>
  /** The caller has disconnected. Reads then end; changes to the host run to their end. */
  readonly callerGone: AbortSignal
}
