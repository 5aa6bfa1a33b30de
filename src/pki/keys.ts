import { createPrivateKey, generateKeyPair, randomBytes, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { HyperkubeError } from '../kit/errors.ts'
import { Secret } from './secret.ts'

/** A P-256 key pair. Both keys are PEM. */
export interface KeyPair {
  /** Public key in SubjectPublicKeyInfo format. */
  readonly publicKey: string
  /** Private key in PKCS#8 format. */
  readonly privateKey: Secret
}

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

/** A WebCrypto key that can only sign, and the algorithm of its signatures. */
export interface SigningKey {
  readonly key: webcrypto.CryptoKey
  readonly algorithm: { readonly name: string; readonly hash: string }
}

const curves: Readonly<Record<string, { readonly namedCurve: string; readonly hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
}

/**
 * Converts a private key to a key that can only sign. hyperkube creates P-256 keys. CAs of adopted clusters
 * usually have RSA keys.
 */
export function loadSigningKey(privateKey: Secret): SigningKey {
  const key = createPrivateKey(privateKey.revealText())
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'rsa') {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    return { key: key.toCryptoKey(algorithm, false, ['sign']), algorithm }
  }
  const curve = type === 'ec' ? curves[details?.namedCurve ?? ''] : undefined
  if (curve === undefined) {
    throw new HyperkubeError(
      'PKI_KEY_TYPE',
      `${privateKey.name}: keys of this type cannot sign certificates`,
      {
        hint: 'hyperkube signs with RSA keys and with ECDSA keys on P-256, P-384 and P-521',
      },
    )
  }
  const { namedCurve, hash } = curve
  return {
    key: key.toCryptoKey({ name: 'ECDSA', namedCurve }, false, ['sign']),
    algorithm: { name: 'ECDSA', hash },
  }
}

/** Source of cryptographically secure random bytes. */
export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
