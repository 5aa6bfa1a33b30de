import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'

/**
 * Signatures in the format of minisign, so that users verify a release with a small program of their
 * distribution. `hyperkube version --verify` verifies them, too.
 */
export interface MinisignKey {
  readonly id: Buffer
  readonly key: KeyObject
  readonly publicKey: Buffer
}

const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
/** Algorithms in a secret key: Ed25519, no encryption, BLAKE2b. */
const plainKeyAlgorithms = Buffer.from('Ed\0\0B2', 'latin1')

/** Reads a secret key that has no password: `minisign -G -W`. */
export function parseSecretKey(text: string): MinisignKey {
  const bytes = Buffer.from(text.trim().split('\n').at(1) ?? '', 'base64')
  if (bytes.length !== 158 || !bytes.subarray(0, 6).equals(plainKeyAlgorithms))
    throw new Error('not a secret key of minisign without a password; create one: minisign -G -W')
  const [id, seed, publicKey] = [bytes.subarray(54, 62), bytes.subarray(62, 94), bytes.subarray(94, 126)]
  const der = Buffer.concat([pkcs8Prefix, seed])
  return { id, publicKey, key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

/** Formats the public key as one line, as `minisign -P` takes it. */
export function formatPublicKey({ id, publicKey }: Pick<MinisignKey, 'id' | 'publicKey'>): string {
  return Buffer.concat([Buffer.from('Ed'), id, publicKey]).toString('base64')
}

/** Signs content. `comment` is also signed. */
export function signContent(content: Uint8Array, { id, key }: MinisignKey, comment: string): string {
  const signature = sign(null, createHash('blake2b512').update(content).digest(), key)
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key)
  return [
    'untrusted comment: signature of a hyperkube release',
    Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64'),
    `trusted comment: ${comment}`,
    global.toString('base64'),
    '',
  ].join('\n')
}
