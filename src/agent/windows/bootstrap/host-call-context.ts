import type { WindowsPlaces } from '../../../contract/windows-paths.ts'
import type { WindowsHost } from '../../host/host.ts'

/** A Windows host as our own program finds it, when it is called without an agent. */
export interface CallScene {
  readonly host: WindowsHost
  readonly places: WindowsPlaces
  readonly arch: string
  /** How much of the disk that a path is on is used, from 0 to 1. */
  readonly used: (path: string) => Promise<number>
  /** Whoever asked is gone. What only shows something then ends; what changes the host is done to its end. */
  readonly gone: AbortSignal
}
