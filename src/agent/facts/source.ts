import type { NetworkInterfaceInfo } from 'node:os'
import type { Argv, CommandResult } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/** A host as facts see it. What is not there is no error, but an answer: undefined, or an empty list. */
export interface FactSource {
  /** As Node calls it: x64, arm64. */
  readonly arch: string
  readonly now: () => Date
  /** Of the interfaces that are up, by their names. */
  readonly interfaces: () => Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>
  readonly readFile: (path: string) => Promise<string | undefined>
  readonly exists: (path: string) => Promise<boolean>
  readonly listDirectory: (path: string) => Promise<readonly string[]>
  /** Where a link leads. */
  readonly readLink: (path: string) => Promise<string | undefined>
  /** Where all links in a directory lead: a process may have thousands. */
  readonly readLinks: (directory: string) => Promise<readonly string[]>
  /** Of the file system that a path is on. */
  readonly space: (path: string) => Promise<Space | undefined>
  /** A program that is not there ends with 127, as in a shell. */
  readonly run: (argv: Argv) => Promise<Pick<CommandResult, 'code' | 'stdout'>>
}

export interface Space {
  readonly totalBytes: number
  readonly availableBytes: number
}

/** Where services find programs, whatever the path of the person is who asks. */
export const programDirectories: readonly string[] = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
]

/** A file that every host has; without it there is nothing to plan from. */
export async function readNeeded(source: Pick<FactSource, 'readFile'>, path: string): Promise<string> {
  const text = await source.readFile(path)
  if (text !== undefined) return text
  throw new HyperkubeError('FACTS_NOT_TAKEN', `${path} could not be read`, {
    hint: 'facts are taken by root on a whole system, with /proc and /sys',
  })
}
