import { createPrivateKey, generateKeyPair, randomBytes, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { Secret } from './secret.ts'

/** A P-256 key pair. Both keys are PEM. */
export interface KeyPair {
  /** Public key in SubjectPublicKeyInfo format. */
  readonly publicKey: string
  /** Private key in PKCS#8 format. */
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

/** Creates the key pair that signs service account tokens. */
export async function makeServiceAccountKey(): Promise<KeyPair> {
  return makeKeyPair('service account key')
}

/** Creates the key that encrypts Secrets in etcd. The secretbox provider needs 32 bytes. */
export function makeEncryptionKey(random: Random = systemRandom): Secret {
  return new Secret('encryption key', random.bytes(32))
}

/** Converts a private key to a WebCrypto key that can only sign. */
export function signingKey(privateKey: Secret): webcrypto.CryptoKey {
  return createPrivateKey(privateKey.revealText()).toCryptoKey(ecdsa, false, ['sign'])
}

/** Source of cryptographically secure random bytes. */
export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
