import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import { fingerprint, listKeysCommand, normalizePublicKey } from '../kit/ssh-public-key.ts'

/** A public key in OpenSSH format without its comment: ssh-ed25519 AAAA… */
export const hostKey = z
  .string()
  .refine((text) => normalizePublicKey(text) === text, 'must be an OpenSSH public key')

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
  const pinned = listPinnedKeys(pins, host)
  if (pinned.length === 0) return 'first-use'
  if (pinned.includes(offered)) return 'known'
  const known = pinned.map(fingerprint).join(' or ')
  const message =
    `the ssh host key of ${host} has changed: it was ${known}, now it is ${fingerprint(offered)}; ` +
    'the machine was reinstalled, or another machine responds at its address'
  throw new HyperkubeError('SSH_HOST_KEY_CHANGED', message, {
    host,
    hint:
      `compare on the console of the host: ${listKeysCommand}; ` +
      `only if the new key is listed there, run the same command with --forget-host-key ${host}`,
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

/** Returns the pinned keys of a host. hasOwn is needed, because a host may be called `constructor`. */
export function listPinnedKeys(pins: PinnedHostKeys, host: string): readonly string[] {
  return Object.hasOwn(pins, host) ? (pins[host] ?? []) : []
}

function parse(host: string, key: string): string {
  const found = normalizePublicKey(key)
  if (found !== undefined) return found
  throw new HyperkubeError('SSH_HOST_KEY_NOT_READ', `${host} offers an invalid ssh host key`, {
    host,
    hint: `check the key: ssh-keyscan ${host}`,
  })
}
