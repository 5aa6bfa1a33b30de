import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import type { DialTarget } from './dial-errors.ts'

/** Starts programs and opens connections on a host; `Remote` is built on top of it. */
export interface Transport {
  readonly host: string
  /** User on the host. */
  readonly user: string
  start(argv: Argv, signal: AbortSignal): Promise<Channel>
  dial(target: DialTarget, signal: AbortSignal): Promise<Duplex>
  close(): Promise<void>
}

/** Transport over ssh: runs a command line in the login shell, or starts a subsystem. */
export interface SshTransport extends Transport {
  startLine(line: string, signal: AbortSignal): Promise<Channel>
  subsystem(name: string, signal: AbortSignal): Promise<Channel>
}

/** A running program on a host. */
export interface Channel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** The exit code. Fails at once if the connection is lost, or with the reason of `kill`. */
  readonly ended: Promise<number>
  /** Ends the program if possible and closes its input and output; `ended` fails with the reason. */
  readonly kill: (reason: unknown) => void
}
