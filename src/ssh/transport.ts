import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import type { Target } from './dial-errors.ts'

/** A way to a host, by which programs are started there and connections made: all else of a Remote is made of that. */
export interface Transport {
  readonly host: string
  /** Whom the host takes us for. */
  readonly user: string
  start(argv: Argv, signal: AbortSignal): Promise<Channel>
  dial(target: Target, signal: AbortSignal): Promise<Duplex>
  close(): Promise<void>
}

/** A way by ssh: the host hands a line to a shell of its own, or starts what it knows by a name. */
export interface SshTransport extends Transport {
  startLine(line: string, signal: AbortSignal): Promise<Channel>
  subsystem(name: string, signal: AbortSignal): Promise<Channel>
}

/** One program at work on a host. */
export interface Channel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** The exit code. Fails at once when the connection is lost, or with the reason of `kill`. */
  readonly ended: Promise<number>
  /** Tells the program to end where that can be done, and closes its input and output; `ended` fails with the reason. */
  readonly kill: (reason: unknown) => void
}
