import type { Remote } from '../remote.ts'

export interface RemoteSubject {
  readonly remote: () => Remote
  /** An empty directory on the host. */
  readonly directory: () => string
  /** An empty directory with room for a few megabytes; without it, full disks are not tested. */
  readonly smallDirectory?: () => string
  /** An abort ends any program, not only the wait for it. */
  readonly endsPrograms: boolean
  /** Exit code of a killed program. */
  readonly killed: number
  /** Root is available on the host. */
  readonly root: boolean
  readonly megabytes: number
  /** Port of a server on the host that echoes its input and closes at its end. */
  readonly echo: () => Promise<number>
  /** The host does not report why a connection failed, as the library's sshd. */
  readonly silentRefusals?: true
  /** A second connection to the same host, to be closed. */
  readonly connectAnother: () => Promise<Remote>
}

/** A signal that is never aborted. */
export const { signal } = new AbortController()
