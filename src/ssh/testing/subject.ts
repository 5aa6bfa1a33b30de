import type { Remote } from '../remote.ts'

export interface RemoteSubject {
  readonly remote: () => Remote
  /** An empty directory on the host. */
  readonly directory: () => string
  /** An empty directory with room for a few megabytes. If undefined, full disks are not tested. */
  readonly smallDirectory?: () => string
  /** True if an abort ends any remote program, and not only the wait for it. */
  readonly endsPrograms: boolean
  /** Exit code of a killed program. */
  readonly killed: number
  /** True if programs can run as root on the host. */
  readonly root: boolean
  readonly megabytes: number
  /** Port of a server on the host that echoes its input and closes when the input ends. */
  readonly echo: () => Promise<number>
  /** Set if the host does not report why a connection failed, like the sshd of the ssh2 library. */
  readonly silentRefusals?: true
  /** Opens a second connection to the same host, which the test closes. */
  readonly connectAnother: () => Promise<Remote>
}

/** A signal that is never aborted. */
export const { signal } = new AbortController()
