import type { Fact } from './fact.ts'
import { socketOwners } from './socket-owners.ts'

export const listeners: Fact<'listeners'> = async (source) => {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(source.readFile))
  const sockets = tables.flatMap((text) => parseSockets(text ?? ''))
  const owners = await socketOwners(source, new Set(sockets.map(({ inode }) => inode)))
  const found = sockets.map(({ port, inode }) => {
    const process = owners.get(inode)
    return { port, ...(process === undefined ? {} : { process }) }
  })
  // A program that listens for each family of addresses is told once.
  const unique = new Map(found.map((one) => [`${one.port} ${one.process}`, one]))
  return [...unique.values()].toSorted((a, b) => a.port - b.port)
}

interface Socket {
  readonly port: number
  readonly inode: string
}

const listening = '0A'

/** Those that wait for connections, from the text of /proc/net/tcp or tcp6. */
export function parseSockets(text: string): readonly Socket[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === listening)
    .map(([, local = '', , , , , , , , inode = '']) => ({
      port: Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16),
      inode,
    }))
}
