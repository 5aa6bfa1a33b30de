import { posix } from 'node:path'
import type { FactSource } from '../source.ts'

/** By the inode of a socket: the name of the program that has it open. */
export async function socketOwners(
  source: FactSource,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const pids = new Map<string, string>()
  for (const pid of pidsOf(await source.listDirectory('/proc'))) {
    if (pids.size === wanted.size) break
    for (const link of await source.readLinks(`/proc/${pid}/fd`)) {
      const inode = socketInode(link)
      if (inode !== undefined && wanted.has(inode) && !pids.has(inode)) pids.set(inode, pid)
    }
  }
  const names = new Map(
    await Promise.all(
      [...new Set(pids.values())].map(
        async (pid) => [pid, programName((await source.readLink(`/proc/${pid}/exe`)) ?? '')] as const,
      ),
    ),
  )
  return new Map(
    [...pids].flatMap(([inode, pid]) => {
      const name = names.get(pid) ?? ''
      return name === '' ? [] : [[inode, name]]
    }),
  )
}

/** The first process comes last: a socket that it hands to a service belongs to the service. */
export function pidsOf(names: readonly string[]): string[] {
  const pids = names.filter((name) => /^\d+$/.test(name)).toSorted((a, b) => Number(a) - Number(b))
  return [...pids.filter((pid) => pid !== '1'), ...pids.filter((pid) => pid === '1')]
}

/** An open file that is a socket is a link to `socket:[12345]`. */
function socketInode(link: string): string | undefined {
  return /^socket:\[(\d+)\]$/.exec(link)?.[1]
}

/** A program that was replaced while it runs is said to be deleted. */
export function programName(executable: string): string {
  return posix.basename(executable.replace(/ \(deleted\)$/, ''))
}
