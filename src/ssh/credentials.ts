import type { AnyAuthMethod, ParsedKey } from 'ssh2'
import { fingerprint } from '../identity/host-key.ts'
import { agentKeys } from './agent.ts'
import { hostKeyText } from './host-key-format.ts'
import { type FoundKey, readKeys } from './key-files.ts'
import type { Hop } from './ssh-route.ts'

/** One key to offer. */
export interface Offer {
  /** How a person knows it. */
  readonly label: string
  readonly method: AnyAuthMethod
}

export interface Credentials {
  readonly offers: readonly Offer[]
  /** Key files that want a passphrase, which is not ours to ask for. */
  readonly encrypted: readonly string[]
  /** What somebody wants to be offered, and cannot be. */
  readonly broken: readonly Broken[]
}

type Broken = Extract<FoundKey, { readonly kind: 'missing' | 'unusable' }>

/** All that can be offered to a machine: files first, in their order, then what the agent holds. */
export async function gatherCredentials(
  hop: Hop,
  agent: string | undefined,
  signal: AbortSignal,
): Promise<Credentials> {
  const files = await readKeys(hop.keys)
  const socket = hop.agent ?? agent ?? false
  const held = socket === false ? [] : await agentKeys(socket, signal)
  const inFiles = files.flatMap((file) => (file.kind === 'private' ? [file] : []))
  const fits = agentFilter(files, hop.onlyKeys)
  const fromAgent = held.filter(({ key }) => fits(key) && !inFiles.some((file) => same(file.key, key)))
  return {
    offers: [
      ...inFiles.map(({ path, key }) => ({
        label: `${path} (${fingerprintOf(key)})`,
        method: { type: 'publickey' as const, username: hop.user, key },
      })),
      ...fromAgent.map((one) => ({
        label: `${one.key.comment === '' ? 'a key' : one.key.comment} of the agent (${fingerprintOf(one.key)})`,
        method: { type: 'agent' as const, username: hop.user, agent: one },
      })),
    ],
    encrypted: files.flatMap((file) =>
      file.kind === 'encrypted' && !fromAgent.some(({ key }) => isPublicOf(file, key)) ? [file.path] : [],
    ),
    broken: files.filter((file) => file.kind === 'missing' || file.kind === 'unusable'),
  }
}

/** Which of the agent's keys to offer, when only those that are named shall be. */
function agentFilter(files: readonly FoundKey[], onlyKeys: boolean): (key: ParsedKey) => boolean {
  // Which one a locked file holds is not known without its public half: then any may be it.
  const unknown = files.some((file) => file.kind === 'encrypted' && file.publicKey === undefined)
  if (!onlyKeys || unknown) return () => true
  return (key) => files.some((file) => isPublicOf(file, key))
}

function isPublicOf(file: FoundKey, key: ParsedKey): boolean {
  if (file.kind === 'missing' || file.kind === 'unusable') return false
  const known = file.kind === 'encrypted' ? file.publicKey : file.key
  return known !== undefined && same(known, key)
}

function same(a: ParsedKey, b: ParsedKey): boolean {
  return a.getPublicSSH().equals(b.getPublicSSH())
}

function fingerprintOf(key: ParsedKey): string {
  return fingerprint(hostKeyText(key.getPublicSSH()))
}
