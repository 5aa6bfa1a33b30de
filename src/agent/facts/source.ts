import type { NetworkInterfaceInfo } from 'node:os'
import type { Facts } from '../../contract/facts.ts'
import type { Argv, CommandResult } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/**
 * Read access to a host for collecting facts. A missing file is not an error: the result is undefined or an
 * empty list.
 */
export interface FactSource {
  /** Architecture in the notation of Node.js: x64, arm64. */
  readonly arch: string
  readonly now: () => Date
  /** Returns the network interfaces that are up, keyed by name. */
  readonly interfaces: () => Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>
  readonly readFile: (path: string) => Promise<string | undefined>
  readonly exists: (path: string) => Promise<boolean>
  readonly listDirectory: (path: string) => Promise<readonly string[]>
  /** Returns the target of a link. */
  readonly readLink: (path: string) => Promise<string | undefined>
  /**
   * Returns the targets of all links in a directory. One call reads all links, because a process may have
   * thousands of open files.
   */
  readonly readLinks: (directory: string) => Promise<readonly string[]>
  /** Returns the space on the file system that contains a path. */
  readonly space: (path: string) => Promise<FileSystemSpace | undefined>
  /** Runs a command. If the program does not exist, the exit code is 127, as in a shell. */
  readonly run: (argv: Argv) => Promise<Pick<CommandResult, 'code' | 'stdout'>>
}

export interface FileSystemSpace {
  readonly totalBytes: number
  readonly availableBytes: number
}

/** Directories in which services search for programs, independent of the caller's PATH. */
export const programDirectories: readonly string[] = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
]

/** Reads a file that every Linux host has. Throws if it cannot be read. */
export async function readRequiredFile(source: Pick<FactSource, 'readFile'>, path: string): Promise<string> {
  const text = await source.readFile(path)
  if (text !== undefined) return text
  throw new HyperkubeError('FACTS_NOT_TAKEN', `cannot read ${path}`, {
    hint: 'the host needs /proc and /sys, and the command must run as root',
  })
}

export type LinuxFacts = Extract<Facts['system'], { os: 'linux' }>

/** Reads one field of the facts. */
export type Fact<Field extends keyof LinuxFacts> = (source: FactSource) => Promise<LinuxFacts[Field]>
