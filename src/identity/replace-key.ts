import { type CaName, caNames, createCa } from '../pki/ca.ts'
import { makeEncryptionKey, makeServiceAccountKey, type Random, systemRandom } from '../pki/keys.ts'
import { caLifetime, type Identity, type ReplacementPhase } from './identity.ts'
import { encryptionKeys } from './trusted-keys.ts'

/** Keys of a cluster that can be replaced while the cluster is running. */
export const keyNames = [...caNames, 'service-account', 'encryption'] as const
export type KeyName = (typeof keyNames)[number]

/** Returns the phase of a key's replacement, or undefined if the key is not being replaced. */
export function findReplacementPhase(identity: Identity, key: KeyName): ReplacementPhase | undefined {
  if (key === 'service-account') return identity.serviceAccount.replacement?.phase
  if (key === 'encryption') return identity.encryption?.replacement?.phase
  return identity.cas[caFields[key]].replacement?.phase
}

/**
 * Returns the identity in the next phase of a key's replacement: `trust`, `switch`, `distrust`, then
 * finished. Call it only after all hosts have applied the current phase.
 */
export async function advanceReplacement(
  identity: Identity,
  key: KeyName,
  now: Date,
  random: Random = systemRandom,
): Promise<Identity> {
  if (key === 'service-account') {
    return { ...identity, serviceAccount: await nextServiceAccount(identity.serviceAccount) }
  }
  if (key === 'encryption') return { ...identity, ...nextEncryption(identity, random) }
  const { cas } = identity
  const next = await nextCa(key, cas[caFields[key]], now, random)
  switch (key) {
    case 'kubernetes':
      return { ...identity, cas: { ...cas, kubernetes: { name: 'kubernetes', ...next } } }
    case 'etcd':
      return { ...identity, cas: { ...cas, etcd: { name: 'etcd', ...next } } }
    default:
      return { ...identity, cas: { ...cas, frontProxy: { name: 'front-proxy', ...next } } }
  }
}

/**
 * Records the time from which the previous service account key no longer signs tokens. An earlier record is
 * kept.
 */
export function recordPreviousKeyUnused(identity: Identity, now: Date): Identity {
  const { serviceAccount } = identity
  const { replacement } = serviceAccount
  if (replacement?.phase !== 'switch' || replacement.since !== undefined) return identity
  const since = now.toISOString()
  return { ...identity, serviceAccount: { ...serviceAccount, replacement: { ...replacement, since } } }
}

const caFields = { kubernetes: 'kubernetes', etcd: 'etcd', 'front-proxy': 'frontProxy' } as const

type CaState = Omit<Identity['cas']['kubernetes'], 'name'>

async function nextCa(
  name: CaName,
  { certificate, privateKey, replacement }: CaState,
  now: Date,
  random: Random,
): Promise<CaState> {
  switch (replacement?.phase) {
    case undefined: {
      const { name: _, ...next } = await createCa(name, caLifetime, now, random)
      return { certificate, privateKey, replacement: { phase: 'trust', next } }
    }
    case 'trust':
      return { ...replacement.next, replacement: { phase: 'switch', previous: certificate } }
    case 'switch':
      return { certificate, privateKey, replacement: { phase: 'distrust', previous: replacement.previous } }
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
      return { ...replacement.next, replacement: { phase: 'switch', previous: publicKey } }
    case 'switch':
      return { publicKey, privateKey, replacement: { phase: 'distrust', previous: replacement.previous } }
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
      // A name is never used again, because encrypted data refers to its key by name.
      const next = { name: `key${Number(name.slice('key'.length)) + 1}`, key: makeEncryptionKey(random) }
      return { encryptionKey, encryption: { name, replacement: { phase: 'trust', next } } }
    }
    case 'trust': {
      const { name: nextName, key } = replacement.next
      const previous = { name, key: encryptionKey }
      return {
        encryptionKey: key,
        encryption: { name: nextName, replacement: { phase: 'switch', previous } },
      }
    }
    case 'switch': {
      const { previous } = replacement
      return { encryptionKey, encryption: { name, replacement: { phase: 'distrust', previous } } }
    }
    default:
      return { encryptionKey, encryption: { name } }
  }
}
