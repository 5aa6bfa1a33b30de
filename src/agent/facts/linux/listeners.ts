import type { Fact } from './fact.ts'
import { findSocketOwners } from './socket-owners.ts'

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
