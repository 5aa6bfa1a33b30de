import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes, type webcrypto } from 'node:crypto'
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

/** The algorithm of the signatures of a key. */
export interface SignatureAlgorithm {
  /** Object identifier in X.509. */
  readonly oid: string
  /** Parameters in X.509. An algorithm with RSA has the parameter NULL, an algorithm with ECDSA has none. */
  readonly parameters: { readonly parameters?: null }
  readonly hash: 'SHA-256' | 'SHA-384' | 'SHA-512'
  readonly webCrypto: { readonly name: string; readonly namedCurve?: string; readonly hash: string }
}

const ecdsa = (namedCurve: string, oid: string, hash: SignatureAlgorithm['hash']): SignatureAlgorithm => ({
  ...{ oid, parameters: {}, hash },
  webCrypto: { name: 'ECDSA', namedCurve, hash },
})

const rsa: SignatureAlgorithm = {
  ...{ oid: '1.2.840.113549.1.1.11', parameters: { parameters: null }, hash: 'SHA-256' },
  webCrypto: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
}

const curves: Readonly<Record<string, SignatureAlgorithm>> = {
  prime256v1: ecdsa('P-256', '1.2.840.10045.4.3.2', 'SHA-256'),
  secp384r1: ecdsa('P-384', '1.2.840.10045.4.3.3', 'SHA-384'),
  secp521r1: ecdsa('P-521', '1.2.840.10045.4.3.4', 'SHA-512'),
}

/** A WebCrypto key that can only sign, and the algorithm of its signatures. */
export interface SigningKey {
  readonly key: webcrypto.CryptoKey
  readonly algorithm: SignatureAlgorithm['webCrypto']
}

/** Converts a private key to a key of WebCrypto that can only sign. */
export function loadSigningKey(privateKey: Secret): SigningKey {
  const key = createPrivateKey(privateKey.revealText())
  const { webCrypto: algorithm } = findSignatureAlgorithm(key, privateKey.name)
  return { key: key.toCryptoKey(algorithm, false, ['sign']), algorithm }
}

/**
 * Returns how a private key signs. hyperkube creates P-256 keys. CAs of adopted clusters usually have RSA keys.
 * `keyName` is the name of the key in messages.
 */
export function findSignatureAlgorithm(key: KeyObject, keyName: string): SignatureAlgorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'rsa') return rsa
  const curve = type === 'ec' ? curves[details?.namedCurve ?? ''] : undefined
  if (curve === undefined) {
    throw new HyperkubeError('PKI_KEY_TYPE', `${keyName}: keys of this type cannot sign certificates`, {
      hint: 'hyperkube signs with RSA keys and with ECDSA keys on P-256, P-384 and P-521',
    })
  }
  return curve
}

/** Source of cryptographically secure random bytes. */
export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
