import { join } from '../host/host-path.ts'
import { type Format, readVersioned } from '../../contract/versioned.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from './planned-access.ts'

/** Reads a state file of the agent. An unreadable file counts as missing. */
export async function readState<T>(host: Host, name: string, format: Format<T>): Promise<T | undefined> {
  const text = await host.files.read(statePath(host, name))
  if (text === undefined) return undefined
  try {
    return readVersioned(format, JSON.parse(text.toString('utf8')))
  } catch {
    return undefined
  }
}

export async function writeState(host: Host, name: string, document: object): Promise<void> {
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  await host.files.write(statePath(host, name), Buffer.from(`${JSON.stringify(document)}\n`), access)
}

export function statePath({ layout }: Pick<Host, 'layout'>, name: string): string {
  return join(layout.state, name)
}
