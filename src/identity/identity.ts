import { z } from 'zod'
import { caKeyName, type CaName, createCa } from '../pki/ca.ts'
import { makeEncryptionKey, makeServiceAccountKey, type Random, systemRandom } from '../pki/keys.ts'
import { year } from '../pki/lifetime.ts'
import { Secret } from '../pki/secret.ts'
import { hostKeys } from './host-key.ts'

/** Converts a secret between base64 in the sealed document and a Secret object in memory. */
function secretCodec(name: string) {
  return z.codec(z.base64(), z.instanceof(Secret), {
    decode: (text) => new Secret(name, Buffer.from(text, 'base64')),
    encode: (value) => Buffer.from(value.reveal()).toString('base64'),
  })
}

const secretName = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be a DNS label')

/** Secrets that cluster.yml refers to by name, for example the password of a registry. */
const namedSecrets = z.codec(z.record(secretName, z.base64()), z.record(secretName, z.instanceof(Secret)), {
  decode: (encodedSecrets) =>
    mapValues(encodedSecrets, (text, name) => new Secret(name, Buffer.from(text, 'base64'))),
  encode: (secrets) => mapValues(secrets, (value) => Buffer.from(value.reveal()).toString('base64')),
})

function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))
}

export const identityApiVersion = 'hyperkube.dev/v1'

/**
 * Lifetime of CA certificates: long enough to plan a replacement, short enough that keys are replaced
 * eventually.
 */
export const caLifetime = 10 * year

const certificate = z.string().startsWith('-----BEGIN CERTIFICATE-----')
const publicKey = z.string().startsWith('-----BEGIN PUBLIC KEY-----')
const key32 = (name: string) => secretCodec(name).refine(({ size }) => size === 32, 'must be 32 bytes')
const [signingName, tagsName] = ['seed of the signing key', 'key of tags']
const encryptionKey = key32('encryption key')
const namedKey = z.strictObject({ name: z.string().regex(/^key\d+$/), key: encryptionKey })

const caSchema = <N extends CaName>(name: N) => {
  const privateKey = secretCodec(caKeyName(name))
  return z.strictObject({
    name: z.literal(name),
    certificate,
    privateKey,
    replacement: replacementSchema(z.strictObject({ certificate, privateKey }), certificate),
  })
}

const serviceAccountKey = secretCodec('service account key')

/** Tools whose clusters hyperkube can read for an adoption. */
export const adoptionSources = ['kubeadm', 'rke1'] as const
export type AdoptionSource = (typeof adoptionSources)[number]

const adoptionSchema = z.strictObject({
  from: z.enum(adoptionSources),
  /** When the hosts were read. */
  observed: z.iso.datetime(),
  /** Configuration with which the API servers encrypt data in etcd; absent if they do not encrypt. */
  encryptionConfiguration: secretCodec('previous encryption configuration').optional(),
  /** Names of the hosts that the other tool installed. Absent in files of earlier releases: all hosts. */
  hosts: z.array(z.string()).optional(),
  /** When the operator committed the adoption, after which no rollback is possible; absent until then. */
  committed: z.iso.datetime().optional(),
})
export type Adoption = z.infer<typeof adoptionSchema>

/** All data of a cluster that cannot be derived from cluster.yml. */
export const identitySchema = z.strictObject({
  apiVersion: z.literal(identityApiVersion),
  kind: z.literal('Identity'),
  metadata: z.strictObject({ name: z.string().min(1) }),
  /** Cluster id, to distinguish clusters with the same name. */
  id: z.uuid(),
  created: z.iso.datetime(),
  cas: z.strictObject({
    kubernetes: caSchema('kubernetes'),
    etcd: caSchema('etcd'),
    frontProxy: caSchema('front-proxy'),
  }),
  serviceAccount: z.strictObject({
    publicKey,
    privateKey: serviceAccountKey,
    replacement: replacementSchema(z.strictObject({ publicKey, privateKey: serviceAccountKey }), publicKey),
  }),
  encryptionKey,
  /**
   * Name of the encryption key and progress of its replacement. Absent until the key is replaced for the
   * first time.
   */
  encryption: z
    .strictObject({ name: z.string().regex(/^key\d+$/), replacement: replacementSchema(namedKey, namedKey) })
    .optional(),
  /**
   * Keys that no host has: `signing` signs bundles and snapshots, `tags` computes tags of secret files. They
   * are random and not derived from a CA key, because control planes have the CA keys.
   */
  operatorKeys: z.strictObject({
    signing: key32(signingName),
    tags: key32(tagsName),
  }),
  hostKeys,
  secrets: namedSecrets,
  /** Set if another tool created the cluster. */
  adoption: adoptionSchema.optional(),
})
export type Identity = z.infer<typeof identitySchema>

export async function createIdentity(
  name: string,
  now: Date,
  random: Random = systemRandom,
): Promise<Identity> {
  const [kubernetes, etcd, frontProxy, serviceAccount] = await Promise.all([
    createCa('kubernetes', caLifetime, now, random),
    createCa('etcd', caLifetime, now, random),
    createCa('front-proxy', caLifetime, now, random),
    makeServiceAccountKey(),
  ])
  return {
    apiVersion: identityApiVersion,
    kind: 'Identity',
    metadata: { name },
    id: uuid(random),
    created: now.toISOString(),
    cas: {
      kubernetes: { ...kubernetes, name: 'kubernetes' },
      etcd: { ...etcd, name: 'etcd' },
      frontProxy: { ...frontProxy, name: 'front-proxy' },
    },
    serviceAccount,
    encryptionKey: makeEncryptionKey(random),
    operatorKeys: {
      signing: new Secret(signingName, random.bytes(32)),
      tags: new Secret(tagsName, random.bytes(32)),
    },
    hostKeys: {},
    secrets: {},
  }
}

/** Returns the identity without a host among those that another tool installed. */
export function forgetAdoptedHost(identity: Identity, host: string): Identity {
  const { adoption } = identity
  if (adoption?.hosts === undefined) return identity
  return { ...identity, adoption: { ...adoption, hosts: adoption.hosts.filter((name) => name !== host) } }
}

/** Creates a random UUID (version 4). */
function uuid(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export type ReplacementPhase = 'trust' | 'switch' | 'distrust'

/**
 * Progress of a key replacement. `trust`: the next key is trusted, the current one still in use. `switch`:
 * the next key is in use, the previous one still trusted. `distrust`: the previous key is no longer trusted,
 * but still recorded. Undefined: no replacement.
 */
function replacementSchema<Next extends z.ZodType, Previous extends z.ZodType>(
  next: Next,
  previous: Previous,
) {
  return z
    .discriminatedUnion('phase', [
      z.strictObject({ phase: z.literal('trust'), next }),
      z.strictObject({
        phase: z.literal('switch'),
        previous,
        /** Time from which the previous key was no longer used. */
        since: z.iso.datetime().optional(),
      }),
      z.strictObject({ phase: z.literal('distrust'), previous }),
    ])
    .optional()
}
