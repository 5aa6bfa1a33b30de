import { readdirSync, readlinkSync, type StatsFs } from 'node:fs'
import { readdir, readFile, readlink, statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { run } from '../../kit/command.ts'
import { exists } from '../../kit/files.ts'
import { type FactSource, programDirectories, type Space } from './source.ts'

/** A program that takes longer has got stuck, and says nothing of the host. */
const patience = 5000

/** The host that this program runs on. */
export function thisMachine(): FactSource {
  return {
    arch: process.arch,
    now: () => new Date(),
    interfaces: networkInterfaces,
    readFile: async (path) => readFile(path, 'utf8').catch(() => undefined),
    exists,
    listDirectory: async (path) => readdir(path).catch(() => []),
    readLink: async (path) => readlink(path).catch(() => undefined),
    readLinks: async (directory) => readLinks(directory),
    space: async (path) => statfs(path).then(spaceOf, () => undefined),
    run: async (argv) =>
      run(argv, {
        allowFailure: true,
        env: { PATH: programDirectories.join(':'), LC_ALL: 'C' },
        signal: AbortSignal.timeout(patience),
      }).catch(() => ({ code: 127, stdout: '' })),
  }
}

/** Without threads it is several times faster: what a process has open is in memory, and there is no disk to wait for. */
function readLinks(directory: string): readonly string[] {
  const names = orElse(() => readdirSync(directory), [])
  // One may have been closed since.
  return names.flatMap((name) => orElse(() => [readlinkSync(join(directory, name))], []))
}

function orElse<T>(attempt: () => T, otherwise: T): T {
  try {
    return attempt()
  } catch {
    return otherwise
  }
}

function spaceOf({ bsize, blocks, bavail }: StatsFs): Space {
  return { totalBytes: bytes(blocks * bsize), availableBytes: bytes(bavail * bsize) }
}

/** Some file systems have no end, and say a number that is none. */
function bytes(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER)
}
