import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv, CommandResult } from '../kit/command.ts'

/** A host that runs commands and receives files, over any transport. */
export interface Remote {
  readonly host: string
  /** Runs a program to its end. Arguments are passed unchanged, without a shell. */
  exec(argv: Argv, options: ExecOptions): Promise<ExecResult>
  /** Starts a program and returns its input and output streams. */
  open(argv: Argv, options: OpenOptions): Promise<RunningProgram>
  /** Writes a file atomically and syncs it to disk. On failure the previous file stays. */
  upload(source: UploadSource, target: string, options: UploadOptions): Promise<void>
  /**
   * Opens a TCP connection from the host. Fails immediately with SSH_DIAL_REFUSED if nothing listens at the
   * address. If the connection to the host is lost, the stream fails with SSH_LOST or ends. An abort of the
   * signal destroys the stream at any time.
   */
  dial(address: string, port: number, options: Pick<OpenOptions, 'signal'>): Promise<Duplex>
  /**
   * Connects as root to a Unix socket of the host, without starting a program there. Returns undefined if the
   * login is not root, or if sshd or the socket refuses. The method is undefined if the transport does not
   * support Unix sockets.
   */
  dialSocket?(path: string, options: Pick<OpenOptions, 'signal'>): Promise<Duplex | undefined>
  close(): Promise<void>
  /** Defined only for Windows hosts. */
  readonly windows?: WindowsRemoteOperations
}

/**
 * Operations on Windows hosts, which have no usable shell. The hyperkube program does there what scripts do
 * on Linux.
 */
export interface WindowsRemoteOperations {
  /** The directory that contains all files of hyperkube. */
  readonly base: string
  /** Returns the version of the installed hyperkube; undefined if it is not installed. */
  readCurrentVersion(signal: AbortSignal): Promise<string | undefined>
  /**
   * Uploads the hyperkube program to a host that may not have it. The target is the login's home directory,
   * which other users cannot access.
   */
  installProgram(source: UploadSource, name: string, options: UploadOptions): Promise<UploadedProgram>
  /**
   * Removes the hyperkube programs after a reset, because a reset cannot remove programs that are still
   * running. Fails while one of the programs runs.
   */
  removePrograms(signal: AbortSignal): Promise<void>
}

export interface UploadedProgram {
  /** Path of the program, relative to the home directory, as a command line on the host needs it. */
  readonly program: string
  readonly remove: (signal: AbortSignal) => Promise<void>
}

export interface OpenOptions {
  readonly signal: AbortSignal
  /** True to run the program as root, with sudo if the user is not root. */
  readonly root?: boolean
}

export interface ExecOptions extends OpenOptions {
  /**
   * Data for standard input, which is then closed. Secrets must be passed here, because all users can see
   * arguments.
   */
  readonly input?: string | Uint8Array | Readable
  /** Milliseconds until the program is killed. */
  readonly timeout?: number
}

/**
 * Result of a program. Exit codes are as in a shell: 127 for a missing program, 128 plus the number of a
 * signal.
 */
export interface ExecResult extends CommandResult {
  /** Standard output as bytes. */
  readonly bytes: Buffer
}

export interface RunningProgram {
  readonly stdin: Writable
  /** Standard output, which must be read to its end because the program blocks otherwise. */
  readonly stdout: Readable
  /** Exit code and the last part of standard error. Rejects if the exit code is unknown. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>
  /** Ends the program as far as the host allows it. `ended` then rejects. */
  readonly kill: () => void
}

export type UploadSource =
  | { readonly path: string }
  | { readonly stream: Readable; readonly size: number }
  | { readonly bytes: Uint8Array }

export interface UploadOptions extends OpenOptions {
  readonly mode: number
  /** Expected SHA-256 in hexadecimal. Without it, the upload is compared only with the data that was sent. */
  readonly sha256?: string
  /**
   * True if the source is gzip-compressed and the host must unpack it. `sha256` is then the digest of the
   * unpacked content. Only for Linux hosts.
   */
  readonly isCompressed?: boolean
  readonly onProgress?: (sent: number, size: number) => void
}
