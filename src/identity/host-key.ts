import { createHash } from 'node:crypto'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

/** A public key as OpenSSH writes it, without its comment: ssh-ed25519 AAAA… */
export const hostKey = z.string().refine((text) => normalized(text) === text, 'must be an OpenSSH public key')

export const hostName = z
  .string()
  .regex(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/, 'must be the name of a host')

export const hostKeys = z.record(hostName, z.array(hostKey).min(1))
export type HostKeys = z.infer<typeof hostKeys>

interface WithHostKeys {
  readonly hostKeys: HostKeys
}

/**
 * Whether this is the host that we know: `first-use` when none is pinned yet. A key of another kind than the pinned ones
 * counts as changed too, or an impostor would only have to offer one.
 */
export function checkHostKey(
  { hostKeys: pins }: WithHostKeys,
  host: string,
  key: string,
): 'known' | 'first-use' {
  const shown = parse(host, key)
  const pinned = pinsOf(pins, host)
  if (pinned.length === 0) return 'first-use'
  if (pinned.includes(shown)) return 'known'
  const known = pinned.map(fingerprint).join(' or ')
  const message =
    `the ssh key of ${host} has changed: it was ${known}, now it is ${fingerprint(shown)}; ` +
    'either the machine was installed anew, or another machine answers in its place'
  throw new HyperkubeError('SSH_HOST_KEY_CHANGED', message, {
    host,
    hint:
      'compare on the machine’s own console: for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done; ' +
      `only if the new one is among them: the same command with --forget-host-key ${host}`,
  })
}

/** Remembers the keys of a host on its first use; afterwards all of them must be known. */
export function pinHostKey<T extends WithHostKeys>(identity: T, host: string, keys: readonly string[]): T {
  if (!hostName.safeParse(host).success) {
    throw new HyperkubeError(
      'SSH_HOST_NAME',
      'a key can only be pinned for the name of a host in cluster.yml',
    )
  }
  const seen = keys.map((key) => checkHostKey(identity, host, key))
  if (!seen.includes('first-use')) return identity
  const pinned = [...new Set(keys.map((key) => parse(host, key)))]
  return { ...identity, hostKeys: { ...identity.hostKeys, [host]: pinned } }
}

/** After a person has said that a machine was installed anew. */
export function forgetHostKey<T extends WithHostKeys>(identity: T, host: string): T {
  const kept = Object.entries(identity.hostKeys).filter(([name]) => name !== host)
  return { ...identity, hostKeys: Object.fromEntries(kept) }
}

/** As ssh shows it: SHA256:… */
export function fingerprint(key: string): string {
  const [, blob = ''] = key.split(' ')
  const digest = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

/** A host may be called `constructor`. */
function pinsOf(pins: HostKeys, host: string): readonly string[] {
  return Object.hasOwn(pins, host) ? (pins[host] ?? []) : []
}

function parse(host: string, key: string): string {
  const found = normalized(key)
  if (found !== undefined) return found
  throw new HyperkubeError('SSH_HOST_KEY_NOT_READ', `what ${host} shows is not an ssh public key`, {
    host,
    hint: `ssh-keyscan ${host} shows what it answers with`,
  })
}

/** The key names its kind twice, outside and inside; both must agree. */
function normalized(text: string): string | undefined {
  const [, type = '', blob = ''] = /^([a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?:\s.*)?$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(blob, 'base64')
  const inner = bytes.length < 5 ? '' : bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1')
  return type !== '' && inner === type && bytes.toString('base64') === blob ? `${type} ${blob}` : undefined
}
