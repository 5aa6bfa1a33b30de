import { createPrivateKey, generateKeyPair, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { type Random, systemRandom } from './random.ts'
import { Secret } from './secret.ts'

/** A P-256 key pair, both halves as PEM. */
export interface KeyPair {
  /** SubjectPublicKeyInfo. */
  readonly publicKey: string
  /** PKCS#8. */
  readonly privateKey: Secret
}

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' } as const
const generate = promisify(generateKeyPair)

export async function makeKeyPair(name: string): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('ec', { namedCurve: 'prime256v1' })
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: new Secret(name, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  }
}

/** Key that signs the tokens of service accounts. */
export async function makeServiceAccountKey(): Promise<KeyPair> {
  return makeKeyPair('service account key')
}

/** Key that encrypts Secrets in etcd: secretbox takes 32 bytes. */
export function makeEncryptionKey(random: Random = systemRandom): Secret {
  return new Secret('encryption key', random.bytes(32))
}

/** A private key as WebCrypto needs it, for signing only. */
export function signingKey(privateKey: Secret): webcrypto.CryptoKey {
  return createPrivateKey(privateKey.revealText()).toCryptoKey(ecdsa, false, ['sign'])
}
