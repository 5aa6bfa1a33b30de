import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import type { DialTarget } from './dial-errors.ts'

/** Starts programs and opens connections on a host. A `Remote` is built on a transport. */
export interface Transport {
  readonly host: string
  /** Login user on the host. */
  readonly user: string
  start(argv: Argv, signal: AbortSignal): Promise<Channel>
  dial(target: DialTarget, signal: AbortSignal): Promise<Duplex>
  close(): Promise<void>
}

/** Transport over ssh. It can also run a command line in the login shell and start a subsystem. */
export interface SshTransport extends Transport {
  startLine(line: string, signal: AbortSignal): Promise<Channel>
  subsystem(name: string, signal: AbortSignal): Promise<Channel>
}

/** A running program on a host. */
export interface Channel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Exit code of the program. Rejects when the connection is lost, or with the reason of `kill`. */
  readonly ended: Promise<number>
  /** Ends the program if possible and closes its input and output. `ended` then rejects with the reason. */
  readonly kill: (reason: unknown) => void
}
