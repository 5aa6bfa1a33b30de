import { readFile } from 'node:fs/promises'
import ssh2 from 'ssh2'
import type {
  AnyAuthMethod,
  BaseAgent,
  IdentityCallback,
  ParsedKey,
  SignCallback,
  SigningRequestOptions,
} from 'ssh2'
import { formatError } from '../kit/errors.ts'
import { fingerprint } from '../kit/ssh-public-key.ts'
import { waitUnlessAborted } from './deadline.ts'
import { formatHostKey } from './host-key-format.ts'
import type { Hop, KeyFile } from './hop.ts'

/**
 * Lists the keys of an ssh agent. Each key is wrapped as an agent with only this key. Returns an empty list
 * if the ssh agent does not respond.
 */
async function listAgentKeys(socket: string, signal: AbortSignal): Promise<readonly AgentKey[]> {
  const agent = ssh2.createAgent(socket)
  return waitUnlessAborted([signal], ({ succeed }) => {
    agent.getIdentities((error, keys = []) => {
      // Key types that the library does not support, such as those of hardware tokens, are left out.
      const known = keys.filter((key) => typeof key === 'object' && 'getPublicSSH' in key)
      succeed(error ? [] : known.map((key) => new AgentKey(agent, key)))
    })
  })
}

/**
 * An ssh agent with a single key. Offering the keys one at a time shows how the host responded to each key.
 */
class AgentKey extends ssh2.BaseAgent<ParsedKey> {
  readonly key: ParsedKey
  readonly #agent: BaseAgent

  constructor(agent: BaseAgent, key: ParsedKey) {
    super()
    this.#agent = agent
    this.key = key
  }

  override getIdentities(callback: IdentityCallback<ParsedKey>): void {
    callback(undefined, [this.key])
  }

  override sign(
    key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    if (typeof options === 'function') this.#agent.sign(key, data, options)
    else this.#agent.sign(key, data, options, callback)
  }
}

/** A key to offer to a host or bastion. */
export interface KeyOffer {
  /** Name of the key for messages. */
  readonly label: string
  readonly method: AnyAuthMethod
}

export interface SshCredentials {
  readonly offers: readonly KeyOffer[]
  /** Paths of key files with a passphrase. hyperkube does not prompt for passphrases. */
  readonly encrypted: readonly string[]
  /** Keys from cluster.yml that are missing or cannot be used. */
  readonly broken: readonly UnusableKey[]
}

type UnusableKey = Extract<FoundKey, { readonly kind: 'missing' | 'unusable' }>

/**
 * Collects the keys to offer to a host or bastion: first the key files in their order, then the keys of the
 * agent.
 */
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

/**
 * Returns a predicate for the agent keys to offer. With `onlyKeys`, it accepts only keys that are configured.
 */
function agentFilter(files: readonly FoundKey[], onlyKeys: boolean): (key: ParsedKey) => boolean {
  // If an encrypted key file has no public key file, its key is unknown. Any key of the agent may then match.
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

/** Result of reading a key file. */
type FoundKey =
  | { readonly kind: 'private'; readonly path: string; readonly key: ParsedKey }
  /** The file contains only a public key. The agent may have the private key. */
  | { readonly kind: 'public'; readonly path: string; readonly key: ParsedKey }
  | { readonly kind: 'encrypted'; readonly path: string; readonly publicKey: ParsedKey | undefined }
  /** The file is configured in cluster.yml but cannot be read. */
  | { readonly kind: 'missing'; readonly path: string; readonly why: string }
  /** The file cannot be parsed as a key. */
  | { readonly kind: 'unusable'; readonly path: string; readonly why: string }

async function readKeys(files: readonly KeyFile[]): Promise<readonly FoundKey[]> {
  const found = await Promise.all(files.map(readKey))
  return found.filter((key) => key !== undefined)
}

/** Reads a key file. Returns undefined if the file has no key and is not configured in cluster.yml. */
async function readKey({ path, from }: KeyFile): Promise<FoundKey | undefined> {
  const isRequired = from === 'settings'
  let text: Buffer
  try {
    text = await readFile(path)
  } catch (error) {
    return isRequired ? { kind: 'missing', path, why: formatError(error) } : undefined
  }
  const key = parse(text)
  if (key instanceof Error) {
    if (!key.message.startsWith('Encrypted '))
      return isRequired ? { kind: 'unusable', path, why: key.message } : undefined
    const publicKey = await readFile(`${path}.pub`).then(parse, () => undefined)
    return { kind: 'encrypted', path, publicKey: publicKey instanceof Error ? undefined : publicKey }
  }
  return { kind: key.isPrivateKey() ? 'private' : 'public', path, key }
}

function parse(text: Buffer): ParsedKey | Error {
  // The library returns a list only for a key format that these files do not use.
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(text)
  return Array.isArray(parsed) ? (parsed[0] ?? new Error('the file contains no key')) : parsed
}
