import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv, CommandResult } from '../kit/command.ts'

/** A host that runs commands and receives files, over any transport. */
export interface Remote {
  readonly host: string
  /** Runs a program to its end. Arguments are passed as they are, without a shell. */
  exec(argv: Argv, options: ExecOptions): Promise<ExecResult>
  /** Starts a program for interactive use. */
  open(argv: Argv, options: OpenOptions): Promise<RunningProgram>
  /** Writes a file atomically and synced, or leaves the previous one. */
  upload(source: UploadSource, target: string, options: UploadOptions): Promise<void>
  /**
   * Opens a TCP connection from the host. Fails at once with SSH_DIAL_REFUSED if nothing listens there. If
   * the connection to the host is lost, the stream fails with SSH_LOST or ends. If the signal is aborted,
   * also later, it fails with the reason.
   */
  dial(address: string, port: number, options: Pick<OpenOptions, 'signal'>): Promise<Duplex>
  close(): Promise<void>
  /** Only on Windows hosts. */
  readonly windows?: WindowsRemoteOperations
}

/** Windows hosts have no usable shell: the hyperkube program does what scripts do elsewhere. */
export interface WindowsRemoteOperations {
  /** The directory that contains everything of hyperkube. */
  readonly base: string
  /** Version of the installed hyperkube; undefined if there is none. */
  readCurrentVersion(signal: AbortSignal): Promise<string | undefined>
  /**
   * Uploads the hyperkube program to a host that may not have it: into the home directory of the login, which
   * others cannot access.
   */
  installProgram(source: UploadSource, name: string, options: UploadOptions): Promise<UploadedProgram>
  /**
   * Removes the hyperkube programs after a reset: programs that ran until its end could not be removed with
   * the rest. Fails while they run.
   */
  removePrograms(signal: AbortSignal): Promise<void>
}

export interface UploadedProgram {
  /** How a login calls the program. */
  readonly program: string
  readonly remove: (signal: AbortSignal) => Promise<void>
}

export interface OpenOptions {
  readonly signal: AbortSignal
  /** Run as root, with sudo if the user is not root. */
  readonly root?: boolean
}

export interface ExecOptions extends OpenOptions {
  /**
   * Written to standard input, which is then closed. Use it for secrets, because arguments are visible to all
   * users.
   */
  readonly input?: string | Uint8Array | Readable
  /** In milliseconds. */
  readonly timeout?: number
}

/** Exit codes as in a shell: 127 if the program does not exist, 128 and more for a signal. */
export interface ExecResult extends CommandResult {
  /** Output, if it is not text. */
  readonly bytes: Buffer
}

export interface RunningProgram {
  readonly stdin: Writable
  /** Must be read to its end, or the program blocks. */
  readonly stdout: Readable
  /** Exit code and the tail of standard error; fails if they cannot be known. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>
  /** Ends the program, as far as possible remotely, and fails `ended`. */
  readonly kill: () => void
}

export type UploadSource =
  | { readonly path: string }
  | { readonly stream: Readable; readonly size: number }
  | { readonly bytes: Uint8Array }

export interface UploadOptions extends OpenOptions {
  readonly mode: number
  /** Expected digest in hexadecimal. Without it, only the transfer is verified. */
  readonly sha256?: string
  readonly onProgress?: (sent: number, size: number) => void
}
