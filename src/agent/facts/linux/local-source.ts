import { readdirSync, readlinkSync, type StatsFs } from 'node:fs'
import { readdir, readFile, readlink, statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { fileExists } from '../../../kit/files.ts'
import { runProgram } from '../../../kit/command.ts'
import { type FactSource, type FileSystemSpace, programDirectories } from '../source.ts'

/** Maximum duration of a command in milliseconds. A program that takes longer is hanging. */
const commandTimeoutMs = 5000

/** Creates read access to the host on which this program runs. */
export function createLocalFactSource(): FactSource {
  return {
    arch: process.arch,
    now: () => new Date(),
    interfaces: networkInterfaces,
    readFile: async (path) => readFile(path, 'utf8').catch(() => undefined),
    exists: fileExists,
    listDirectory: async (path) => readdir(path).catch(() => []),
    readLink: async (path) => readlink(path).catch(() => undefined),
    readLinks: async (directory) => readLinks(directory),
    space: async (path) => statfs(path).then(toSpace, () => undefined),
    run: async (argv) =>
      runProgram(argv, {
        allowFailure: true,
        env: { PATH: programDirectories.join(':'), LC_ALL: 'C' },
        signal: AbortSignal.timeout(commandTimeoutMs),
      }).catch(() => ({ code: 127, stdout: '' })),
  }
}

/**
 * Reads the targets of all links in a directory of /proc. Synchronous calls are several times faster here,
 * because /proc is in memory.
 */
function readLinks(directory: string): readonly string[] {
  const names = tryOr(() => readdirSync(directory), [])
  // The process may have closed the file meanwhile. Its link is then skipped.
  return names.flatMap((name) => tryOr(() => [readlinkSync(join(directory, name))], []))
}

function tryOr<T>(attempt: () => T, fallback: T): T {
  try {
    return attempt()
  } catch {
    return fallback
  }
}

function toSpace({ bsize, blocks, bavail }: StatsFs): FileSystemSpace {
  return { totalBytes: clampBytes(blocks * bsize), availableBytes: clampBytes(bavail * bsize) }
}

/** Limits a size to the safe integers, because file systems without a size limit report larger numbers. */
function clampBytes(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER)
}
