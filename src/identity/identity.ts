import { z } from 'zod'
import { authorityKeyName, type AuthorityName, makeAuthority } from '../pki/ca.ts'
import { makeEncryptionKey, makeServiceAccountKey } from '../pki/keys.ts'
import { year } from '../pki/lifetime.ts'
import { type Random, systemRandom } from '../pki/random.ts'
import { hostKeys } from './host-key.ts'
import { replacement } from './replacement.ts'
import { namedSecrets, secret } from './secret-codec.ts'
import { uuid } from './uuid.ts'

export const apiVersion = 'hyperkube.dev/v1'

/** Long enough that nobody meets its end unprepared, short enough that the key is changed within a career. */
export const authorityLifetime = 10 * year

const certificate = z.string().startsWith('-----BEGIN CERTIFICATE-----')
const publicKey = z.string().startsWith('-----BEGIN PUBLIC KEY-----')
const encryptionKey = secret('encryption key').refine(({ size }) => size === 32, 'must be 32 bytes')
const namedKey = z.strictObject({ name: z.string().regex(/^key\d+$/), key: encryptionKey })

const authority = <N extends AuthorityName>(name: N) => {
  const privateKey = secret(authorityKeyName(name))
  return z.strictObject({
    name: z.literal(name),
    certificate,
    privateKey,
    replacement: replacement(z.strictObject({ certificate, privateKey }), certificate),
  })
}

const serviceAccountKey = secret('service account key')

/** What makes a cluster itself and no other: all that cannot be derived from cluster.yml. */
export const identitySchema = z.strictObject({
  apiVersion: z.literal(apiVersion),
  kind: z.literal('Identity'),
  metadata: z.strictObject({ name: z.string().min(1) }),
  /** Tells clusters apart that bear the same name. */
  id: z.uuid(),
  created: z.iso.datetime(),
  authorities: z.strictObject({
    kubernetes: authority('kubernetes'),
    etcd: authority('etcd'),
    frontProxy: authority('front-proxy'),
  }),
  serviceAccount: z.strictObject({
    publicKey,
    privateKey: serviceAccountKey,
    replacement: replacement(z.strictObject({ publicKey, privateKey: serviceAccountKey }), publicKey),
  }),
  encryptionKey,
  /** What else is to be known of it once it was ever replaced: until then it is the first one. */
  encryption: z
    .strictObject({ name: z.string().regex(/^key\d+$/), replacement: replacement(namedKey, namedKey) })
    .optional(),
  /** What was derived from the authority of etcd, kept when that one is replaced: bundles and tags outlive it. */
  lasting: z
    .strictObject({ bundles: secret('seed of the key of bundles'), tags: secret('key of tags') })
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
    makeAuthority('kubernetes', authorityLifetime, now, random),
    makeAuthority('etcd', authorityLifetime, now, random),
    makeAuthority('front-proxy', authorityLifetime, now, random),
    makeServiceAccountKey(),
  ])
  return {
    apiVersion,
    kind: 'Identity',
    metadata: { name },
    id: uuid(random),
    created: now.toISOString(),
    authorities: {
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
