import { posix } from 'node:path'
import type { FactSource } from '../source.ts'

/**
 * Finds the programs that have these sockets open. Returns program names, keyed by the inode of the socket.
 */
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

/** Lists process ids, 1 last: a socket that systemd passes to a service belongs to the service. */
export function listPids(names: readonly string[]): string[] {
  const pids = names.filter((name) => /^\d+$/.test(name)).toSorted((a, b) => Number(a) - Number(b))
  return [...pids.filter((pid) => pid !== '1'), ...pids.filter((pid) => pid === '1')]
}

/** Parses the link of an open socket, such as `socket:[12345]`. */
function parseSocketInode(link: string): string | undefined {
  return /^socket:\[(\d+)\]$/.exec(link)?.[1]
}

/**
 * Returns the program name of an executable. The kernel appends " (deleted)" if the file of a running program
 * was replaced.
 */
export function toProgramName(executable: string): string {
  return posix.basename(executable.replace(/ \(deleted\)$/, ''))
}
