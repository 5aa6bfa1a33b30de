import { type AuthorityName, authorityNames, makeAuthority } from '../pki/ca.ts'
import { makeEncryptionKey, makeServiceAccountKey } from '../pki/keys.ts'
import { type Random, systemRandom } from '../pki/random.ts'
import { lastingKeys } from './stable-keys.ts'
import { authorityLifetime, type Identity } from './identity.ts'
import type { Phase } from './replacement.ts'
import { encryptionKeys } from './trusted-keys.ts'

/** The keys of a cluster that can be replaced while it runs. */
export const keyNames = [...authorityNames, 'service-account', 'encryption'] as const
export type KeyName = (typeof keyNames)[number]

/** How far the replacement of a key has come; undefined when there is none. */
export function phaseOf(identity: Identity, key: KeyName): Phase | undefined {
  if (key === 'service-account') return identity.serviceAccount.replacement?.phase
  if (key === 'encryption') return identity.encryption?.replacement?.phase
  return identity.authorities[slots[key]].replacement?.phase
}

/**
 * The identity one phase further: from nothing to `trust`, `switch`, `distrust`, and to nothing again. Each is safe only
 * once all hosts have come to the one before.
 */
export async function advanced(
  identity: Identity,
  key: KeyName,
  now: Date,
  random: Random = systemRandom,
): Promise<Identity> {
  if (key === 'service-account') {
    return { ...identity, serviceAccount: await nextServiceAccount(identity.serviceAccount) }
  }
  if (key === 'encryption') return { ...identity, ...nextEncryption(identity, random) }
  const { authorities } = identity
  const next = await nextAuthority(key, authorities[slots[key]], now, random)
  switch (key) {
    case 'kubernetes':
      return { ...identity, authorities: { ...authorities, kubernetes: { name: 'kubernetes', ...next } } }
    case 'etcd':
      return {
        ...identity,
        authorities: { ...authorities, etcd: { name: 'etcd', ...next } },
        lasting: lastingKeys(identity),
      }
    default:
      return { ...identity, authorities: { ...authorities, frontProxy: { name: 'front-proxy', ...next } } }
  }
}

/** Says since when no token was signed with the former key of service accounts, unless that is known already. */
export function unusedSince(identity: Identity, now: Date): Identity {
  const { serviceAccount } = identity
  const { replacement } = serviceAccount
  if (replacement?.phase !== 'switch' || replacement.since !== undefined) return identity
  const since = now.toISOString()
  return { ...identity, serviceAccount: { ...serviceAccount, replacement: { ...replacement, since } } }
}

const slots = { kubernetes: 'kubernetes', etcd: 'etcd', 'front-proxy': 'frontProxy' } as const

type AuthorityState = Omit<Identity['authorities']['kubernetes'], 'name'>

async function nextAuthority(
  name: AuthorityName,
  { certificate, privateKey, replacement }: AuthorityState,
  now: Date,
  random: Random,
): Promise<AuthorityState> {
  switch (replacement?.phase) {
    case undefined: {
      const { name: _, ...next } = await makeAuthority(name, authorityLifetime, now, random)
      return { certificate, privateKey, replacement: { phase: 'trust', next } }
    }
    case 'trust':
      return { ...replacement.next, replacement: { phase: 'switch', former: certificate } }
    case 'switch':
      return { certificate, privateKey, replacement: { phase: 'distrust', former: replacement.former } }
    default:
      return { certificate, privateKey }
  }
}

type ServiceAccount = Identity['serviceAccount']

async function nextServiceAccount({
  publicKey,
  privateKey,
  replacement,
}: ServiceAccount): Promise<ServiceAccount> {
  switch (replacement?.phase) {
    case undefined:
      return { publicKey, privateKey, replacement: { phase: 'trust', next: await makeServiceAccountKey() } }
    case 'trust':
      return { ...replacement.next, replacement: { phase: 'switch', former: publicKey } }
    case 'switch':
      return { publicKey, privateKey, replacement: { phase: 'distrust', former: replacement.former } }
    default:
      return { publicKey, privateKey }
  }
}

function nextEncryption(
  identity: Identity,
  random: Random,
): Required<Pick<Identity, 'encryptionKey' | 'encryption'>> {
  const { encryptionKey } = identity
  const replacement = identity.encryption?.replacement
  const name = encryptionKeys(identity)[0]?.name ?? ''
  switch (replacement?.phase) {
    case undefined: {
      // Never a name that was used before: it is how one tells what is encrypted with which.
      const next = { name: `key${Number(name.slice('key'.length)) + 1}`, key: makeEncryptionKey(random) }
      return { encryptionKey, encryption: { name, replacement: { phase: 'trust', next } } }
    }
    case 'trust': {
      const { name: nextName, key } = replacement.next
      const former = { name, key: encryptionKey }
      return { encryptionKey: key, encryption: { name: nextName, replacement: { phase: 'switch', former } } }
    }
    case 'switch': {
      const { former } = replacement
      return { encryptionKey, encryption: { name, replacement: { phase: 'distrust', former } } }
    }
    default:
      return { encryptionKey, encryption: { name } }
  }
}
