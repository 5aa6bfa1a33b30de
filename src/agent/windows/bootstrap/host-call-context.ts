import type { WindowsPaths } from '../../../contract/windows-paths.ts'
import type { WindowsHost } from '../../host/host.ts'

/** Context of the calls that hyperkube handles on a Windows host without an agent. */
export interface HostCallContext {
  readonly host: WindowsHost
  readonly paths: WindowsPaths
  readonly arch: string
  /** Returns the used share of the disk that contains a path, from 0 to 1. */
  readonly readDiskUsage: (path: string) => Promise<number>
  /** Aborted when the caller has disconnected. Reads then end, but changes to the host are completed. */
  readonly callerGone: AbortSignal
}
