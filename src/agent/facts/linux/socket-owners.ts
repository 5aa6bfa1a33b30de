import { posix } from 'node:path'
import type { FactSource } from '../source.ts'

/** Names of the programs that have sockets open, by inode. */
export async function findSocketOwners(
  source: FactSource,
  inodes: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const pids = new Map<string, string>()
  for (const pid of listPids(await source.listDirectory('/proc'))) {
    if (pids.size === inodes.size) break
    for (const link of await source.readLinks(`/proc/${pid}/fd`)) {
      const inode = parseSocketInode(link)
      if (inode !== undefined && inodes.has(inode) && !pids.has(inode)) pids.set(inode, pid)
    }
  }
  const names = new Map(
    await Promise.all(
      [...new Set(pids.values())].map(
        async (pid) => [pid, toProgramName((await source.readLink(`/proc/${pid}/exe`)) ?? '')] as const,
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

/** The first process comes last: a socket that it passes to a service belongs to the service. */
export function listPids(names: readonly string[]): string[] {
  const pids = names.filter((name) => /^\d+$/.test(name)).toSorted((a, b) => Number(a) - Number(b))
  return [...pids.filter((pid) => pid !== '1'), ...pids.filter((pid) => pid === '1')]
}

/** An open socket is a link to `socket:[12345]`. */
function parseSocketInode(link: string): string | undefined {
  return /^socket:\[(\d+)\]$/.exec(link)?.[1]
}

/** The kernel appends " (deleted)" if the file of a running program was replaced. */
export function toProgramName(executable: string): string {
  return posix.basename(executable.replace(/ \(deleted\)$/, ''))
}
