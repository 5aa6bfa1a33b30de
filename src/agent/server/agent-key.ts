import { randomBytes } from 'node:crypto'
import { HyperkubeError } from '../../kit/errors.ts'
import type { HostFiles } from '../host/files.ts'
import { join } from '../host/host-path.ts'

/** Length of the key in bytes. */
const keyBytes = 32

/** File with the key, in the agent's state directory. Only SYSTEM and administrators can read it. */
function keyFile(state: string): string {
  return join(state, 'agent.key')
}

/**
 * Returns the key with which the agent and its clients on the same Windows host recognize each other. Creates
 * the key if there is none, or if others may have read or written the file. The key stays the same when the
 * agent restarts, so that a client that has just read the key can still connect.
 */
export async function openAgentKey(files: HostFiles, state: string): Promise<Buffer> {
  const path = keyFile(state)
  const facts = await files.stat(path)
  if (facts?.kind === 'file' && facts.mode === 0o600 && facts.size === keyBytes) {
    const known = await files.read(path)
    if (known?.length === keyBytes) return known
  }
  const key = randomBytes(keyBytes)
  await files.write(path, key, { uid: 0, gid: 0, mode: 0o600 })
  return key
}

/** Reads the key as a client. The agent creates the key before it listens. */
export async function readAgentKey(files: Pick<HostFiles, 'read'>, state: string): Promise<Buffer> {
  const key = await files.read(keyFile(state))
  if (key?.length === keyBytes) return key
  throw new HyperkubeError(
    'AGENT_NOT_THERE',
    `no agent has started on this host: ${keyFile(state)} is missing`,
    {
      hint: 'sc.exe query hyperkube-agent',
    },
  )
}
