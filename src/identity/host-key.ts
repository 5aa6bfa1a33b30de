import { createHash } from 'node:crypto'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

/** A public key in OpenSSH format without its comment: ssh-ed25519 AAAA… */
export const hostKey = z
  .string()
  .refine((text) => normalizeKey(text) === text, 'must be an OpenSSH public key')

export const hostName = z
  .string()
  .regex(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/, 'must be the name of a host')

export const hostKeys = z.record(hostName, z.array(hostKey).min(1))
export type PinnedHostKeys = z.infer<typeof hostKeys>

interface WithHostKeys {
  readonly hostKeys: PinnedHostKeys
}

/**
 * Checks the SSH key of a host against the pinned keys. Returns `first-use` if no key is pinned. A key of
 * another type counts as changed; otherwise an impostor could simply offer another type.
 */
export function checkHostKey(
  { hostKeys: pins }: WithHostKeys,
  host: string,
  key: string,
): 'known' | 'first-use' {
  const offered = parse(host, key)
  const pinned = listPins(pins, host)
  if (pinned.length === 0) return 'first-use'
  if (pinned.includes(offered)) return 'known'
  const known = pinned.map(fingerprint).join(' or ')
  const message =
    `the ssh key of ${host} has changed: it was ${known}, now it is ${fingerprint(offered)}; ` +
    'either the machine was reinstalled, or another machine answers in its place'
  throw new HyperkubeError('SSH_HOST_KEY_CHANGED', message, {
    host,
    hint:
      'compare on the machine’s own console: for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done; ' +
      `only if the new one is among them: the same command with --forget-host-key ${host}`,
  })
}

/** Pins the keys of a host on first use. If keys are already pinned, all given keys must be among them. */
export function pinHostKey<T extends WithHostKeys>(identity: T, host: string, keys: readonly string[]): T {
  if (!hostName.safeParse(host).success) {
    throw new HyperkubeError(
      'SSH_HOST_NAME',
      'a key can only be pinned for the name of a host in cluster.yml',
    )
  }
  const results = keys.map((key) => checkHostKey(identity, host, key))
  if (!results.includes('first-use')) return identity
  const pinned = [...new Set(keys.map((key) => parse(host, key)))]
  return { ...identity, hostKeys: { ...identity.hostKeys, [host]: pinned } }
}

/**
 * Removes the pinned keys of a host. Call this only after a person has confirmed that the host was
 * reinstalled.
 */
export function forgetHostKey<T extends WithHostKeys>(identity: T, host: string): T {
  const remaining = Object.entries(identity.hostKeys).filter(([name]) => name !== host)
  return { ...identity, hostKeys: Object.fromEntries(remaining) }
}

/** Returns the fingerprint of a key in the format of ssh: SHA256:… */
export function fingerprint(key: string): string {
  const [, blob = ''] = key.split(' ')
  const digest = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

/** Returns the pinned keys of a host. hasOwn is needed, because a host may be called `constructor`. */
function listPins(pins: PinnedHostKeys, host: string): readonly string[] {
  return Object.hasOwn(pins, host) ? (pins[host] ?? []) : []
}

function parse(host: string, key: string): string {
  const found = normalizeKey(key)
  if (found !== undefined) return found
  throw new HyperkubeError('SSH_HOST_KEY_NOT_READ', `what ${host} shows is not an ssh public key`, {
    host,
    hint: `ssh-keyscan ${host} shows what it answers with`,
  })
}

/**
 * Returns the key without its comment, or undefined if it is invalid. The key type is stated twice, before
 * and inside the base64 blob; both must be equal.
 */
function normalizeKey(text: string): string | undefined {
  const [, type = '', blob = ''] = /^([a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?:\s.*)?$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(blob, 'base64')
  const inner = bytes.length < 5 ? '' : bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1')
  return type !== '' && inner === type && bytes.toString('base64') === blob ? `${type} ${blob}` : undefined
}
