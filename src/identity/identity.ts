import { z } from 'zod'
import { caKeyName, type CaName, createCa } from '../pki/ca.ts'
import { makeEncryptionKey, makeServiceAccountKey } from '../pki/keys.ts'
import { year } from '../pki/lifetime.ts'
import { type Random, systemRandom } from '../pki/random.ts'
import { hostKeys } from './host-key.ts'
import { replacementSchema } from './replacement.ts'
import { namedSecrets, secretCodec } from './secret-codec.ts'
import { uuid } from './uuid.ts'

export const identityApiVersion = 'hyperkube.dev/v1'

/** Long enough to plan the replacement, short enough that the key is replaced at some point. */
export const caLifetime = 10 * year

const certificate = z.string().startsWith('-----BEGIN CERTIFICATE-----')
const publicKey = z.string().startsWith('-----BEGIN PUBLIC KEY-----')
const encryptionKey = secretCodec('encryption key').refine(({ size }) => size === 32, 'must be 32 bytes')
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

/** What makes a cluster unique: all data that cannot be derived from cluster.yml. */
export const identitySchema = z.strictObject({
  apiVersion: z.literal(identityApiVersion),
  kind: z.literal('Identity'),
  metadata: z.strictObject({ name: z.string().min(1) }),
  /** Distinguishes clusters with the same name. */
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
  /** Name and replacement of the encryption key. Missing until the key is replaced for the first time. */
  encryption: z
    .strictObject({ name: z.string().regex(/^key\d+$/), replacement: replacementSchema(namedKey, namedKey) })
    .optional(),
  /** Keys derived from the etcd CA, stored when that CA is replaced: bundles and tags outlive it. */
  stableKeys: z
    .strictObject({ bundles: secretCodec('seed of the key of bundles'), tags: secretCodec('key of tags') })
    .optional(),
  hostKeys,
  secrets: namedSecrets,
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
    hostKeys: {},
    secrets: {},
  }
}
