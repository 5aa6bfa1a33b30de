import { posix } from 'node:path'
import type { Fact, FactSource } from '../source.ts'

export const readListeners: Fact<'listeners'> = async (source) => {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(source.readFile))
  const sockets = tables.flatMap((text) => parseSockets(text ?? ''))
  const owners = await findSocketOwners(source, new Set(sockets.map(({ inode }) => inode)))
  const found = sockets.map(({ port, inode }) => {
    const process = owners.get(inode)
    return { port, ...(process === undefined ? {} : { process }) }
  })
  // A program that listens on IPv4 and IPv6 is reported once.
  const unique = new Map(found.map((one) => [`${one.port} ${one.process}`, one]))
  return [...unique.values()].toSorted((a, b) => a.port - b.port)
}

interface Socket {
  readonly port: number
  readonly inode: string
}

const listenState = '0A'

/** Parses the listening sockets in /proc/net/tcp or /proc/net/tcp6. */
export function parseSockets(text: string): readonly Socket[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === listenState)
    .map(([, local = '', , , , , , , , inode = '']) => ({
      port: Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16),
      inode,
    }))
}

/**
 * Finds the programs that have the given sockets open. Returns program names, keyed by the inode of the
 * socket.
 */
async function findSocketOwners(
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

/**
 * Lists process ids, with process 1 last. A socket that systemd passes to a service is then attributed to the
 * service.
 */
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
