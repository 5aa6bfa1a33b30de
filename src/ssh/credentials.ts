import type { AnyAuthMethod, ParsedKey } from 'ssh2'
import { fingerprint } from '../identity/host-key.ts'
import { listAgentKeys } from './agent.ts'
import { formatHostKey } from './host-key-format.ts'
import { type FoundKey, readKeys } from './key-files.ts'
import type { Hop } from './ssh-route.ts'

/** A key to offer. */
export interface KeyOffer {
  /** Name for messages. */
  readonly label: string
  readonly method: AnyAuthMethod
}

export interface SshCredentials {
  readonly offers: readonly KeyOffer[]
  /** Key files with a passphrase. hyperkube does not prompt for passphrases. */
  readonly encrypted: readonly string[]
  /** Configured keys that cannot be used. */
  readonly broken: readonly UnusableKey[]
}

type UnusableKey = Extract<FoundKey, { readonly kind: 'missing' | 'unusable' }>

/** Collects the keys to offer to a machine: files first, in their order, then keys of the agent. */
export async function gatherCredentials(
  hop: Hop,
  agent: string | undefined,
  signal: AbortSignal,
): Promise<SshCredentials> {
  const files = await readKeys(hop.keys)
  const socket = hop.agent ?? agent ?? false
  const agentHeld = socket === false ? [] : await listAgentKeys(socket, signal)
  const inFiles = files.flatMap((file) => (file.kind === 'private' ? [file] : []))
  const matches = agentFilter(files, hop.onlyKeys)
  const fromAgent = agentHeld.filter(
    ({ key }) => matches(key) && !inFiles.some((file) => isSameKey(file.key, key)),
  )
  return {
    offers: [
      ...inFiles.map(({ path, key }) => ({
        label: `${path} (${computeFingerprint(key)})`,
        method: { type: 'publickey' as const, username: hop.user, key },
      })),
      ...fromAgent.map((one) => ({
        label: `${one.key.comment === '' ? 'a key' : one.key.comment} of the agent (${computeFingerprint(one.key)})`,
        method: { type: 'agent' as const, username: hop.user, agent: one },
      })),
    ],
    encrypted: files.flatMap((file) =>
      file.kind === 'encrypted' && !fromAgent.some(({ key }) => isPublicOf(file, key)) ? [file.path] : [],
    ),
    broken: files.filter((file) => file.kind === 'missing' || file.kind === 'unusable'),
  }
}

/** Selects the keys of the agent to offer, if only configured keys are allowed. */
function agentFilter(files: readonly FoundKey[], onlyKeys: boolean): (key: ParsedKey) => boolean {
  // Without its public key file, the key in an encrypted file is unknown: any key of the agent may match.
  const unknown = files.some((file) => file.kind === 'encrypted' && file.publicKey === undefined)
  if (!onlyKeys || unknown) return () => true
  return (key) => files.some((file) => isPublicOf(file, key))
}

function isPublicOf(file: FoundKey, key: ParsedKey): boolean {
  if (file.kind === 'missing' || file.kind === 'unusable') return false
  const known = file.kind === 'encrypted' ? file.publicKey : file.key
  return known !== undefined && isSameKey(known, key)
}

function isSameKey(a: ParsedKey, b: ParsedKey): boolean {
  return a.getPublicSSH().equals(b.getPublicSSH())
}

function computeFingerprint(key: ParsedKey): string {
  return fingerprint(formatHostKey(key.getPublicSSH()))
}
