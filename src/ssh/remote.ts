import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv, CommandResult } from '../kit/command.ts'

/** A host that commands and files can be sent to, by whatever way. */
export interface Remote {
  readonly host: string
  /** Runs a program to its end. Arguments arrive as they are: no shell sees them. */
  exec(argv: Argv, options: ExecOptions): Promise<ExecResult>
  /** Begins a program that is talked with while it runs. */
  open(argv: Argv, options: OpenOptions): Promise<Conversation>
  /** Puts a file in its place, whole and synced, or leaves what was there. */
  upload(source: UploadSource, target: string, options: UploadOptions): Promise<void>
  /**
   * A TCP connection that the host makes. Where nobody listens, that is told at once: SSH_DIAL_REFUSED. When the way
   * to the host is gone it fails with SSH_LOST, or just ends; when the signal aborts, also later, with its reason.
   */
  dial(address: string, port: number, options: Pick<OpenOptions, 'signal'>): Promise<Duplex>
  close(): Promise<void>
  /** What there is only on a host of Windows. */
  readonly windows?: WindowsSide
}

/** A Windows host has no shell that anything could be said in: our own program does there what a script does elsewhere. */
export interface WindowsSide {
  /** The directory below which all of ours is. */
  readonly base: string
  /** Which hyperkube the host has, by its version; undefined when it has none. */
  current(signal: AbortSignal): Promise<string | undefined>
  /** Brings our program to a host that may have none: into the login's own directory, where nobody else comes. */
  bring(source: UploadSource, name: string, options: UploadOptions): Promise<Brought>
  /** Takes our programs away after a reset: those that ran until its end could not go with the rest. Fails while they run. */
  clear(signal: AbortSignal): Promise<void>
}

export interface Brought {
  /** How it is called by a login. */
  readonly program: string
  readonly remove: (signal: AbortSignal) => Promise<void>
}

export interface OpenOptions {
  readonly signal: AbortSignal
  /** As root, by sudo where the user is somebody else. */
  readonly root?: boolean
}

export interface ExecOptions extends OpenOptions {
  /** Written to standard input, which is then closed. The way for secrets: arguments are seen by everybody. */
  readonly input?: string | Uint8Array | Readable
  /** Give up after so many milliseconds. */
  readonly timeout?: number
}

/** The code is as a shell counts: 127 without such a program, 128 and more for a death by signal. */
export interface ExecResult extends CommandResult {
  /** What it wrote, when that is no text. */
  readonly bytes: Buffer
}

export interface Conversation {
  readonly stdin: Writable
  /** Has to be read to its end, or the program waits. */
  readonly stdout: Readable
  /** How it ended, with the end of what it wrote to standard error; fails when that cannot be known. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>
  /** Ends the program, as far as that can be done from afar, and the wait for it. */
  readonly kill: () => void
}

export type UploadSource =
  | { readonly path: string }
  | { readonly stream: Readable; readonly size: number }
  | { readonly bytes: Uint8Array }

export interface UploadOptions extends OpenOptions {
  readonly mode: number
  /** In hexadecimal: what the file must be. Without it, only that it arrived as it left is made sure. */
  readonly sha256?: string
  readonly onProgress?: (sent: number, size: number) => void
}
