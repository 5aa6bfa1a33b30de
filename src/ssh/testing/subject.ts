import type { Remote } from '../remote.ts'

export interface Subject {
  readonly remote: () => Remote
  /** An empty directory of the host. */
  readonly directory: () => string
  /** An empty directory with room for a few megabytes; without it nothing is tested of full disks. */
  readonly smallDirectory?: () => string
  /** An abort ends whatever program, not only the wait for it. */
  readonly endsPrograms: boolean
  /** The code of a program that was killed. */
  readonly killed: number
  /** We can be root there. */
  readonly root: boolean
  readonly megabytes: number
  /** The port of a server on the host that sends back what it gets, and ends when it gets no more. */
  readonly echo: () => Promise<number>
  /** The host does not say why it makes no connection, as the sshd of our library. */
  readonly silentRefusals?: true
  /** The same host once more, to be closed. */
  readonly another: () => Promise<Remote>
}

/** For whom nothing is to be aborted. */
export const { signal } = new AbortController()
