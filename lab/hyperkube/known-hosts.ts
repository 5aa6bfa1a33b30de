import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Machine } from '../hosts/machine.ts'

/** Writes known_hosts of an operator with the keys that the lab generated for its hosts. */
export async function writeKnownHosts(home: string, hosts: readonly Machine[]): Promise<void> {
  await mkdir(join(home, '.ssh'), { recursive: true, mode: 0o700 })
  const lines = await Promise.all(hosts.map(async ({ ssh }) => readFile(ssh.knownHosts, 'utf8')))
  await writeFile(join(home, '.ssh/known_hosts'), lines.join(''))
}
