import { z } from 'zod'
import { Secret } from '../pki/secret.ts'

/** A secret is base64 in the sealed document, and a Secret everywhere else. */
export function secretCodec(name: string) {
  return z.codec(z.base64(), z.instanceof(Secret), {
    decode: (text) => new Secret(name, Buffer.from(text, 'base64')),
    encode: (value) => Buffer.from(value.reveal()).toString('base64'),
  })
}

const secretName = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be a DNS label')

/** Secrets that cluster.yml refers to by name, such as the password of a registry. */
export const namedSecrets = z.codec(
  z.record(secretName, z.base64()),
  z.record(secretName, z.instanceof(Secret)),
  {
    decode: (encodedSecrets) =>
      mapValues(encodedSecrets, (text, name) => new Secret(name, Buffer.from(text, 'base64'))),
    encode: (secrets) => mapValues(secrets, (value) => Buffer.from(value.reveal()).toString('base64')),
  },
)

function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))
}
