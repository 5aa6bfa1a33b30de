import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** Size of an Ed25519 signature in bytes. */
export const signatureSize = 64
const keySize = 32

/** DER prefix of an Ed25519 public key in SPKI form. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

export function signContent(content: Uint8Array, privateKey: KeyObject): Buffer {
  return sign(null, content, privateKey)
}

export function isSignedBy(content: Uint8Array, signature: Uint8Array, publicKey: KeyObject): boolean {
  return verify(null, content, publicKey, signature)
}

/** Formats a public key as text: its 32 bytes in base64. */
export function formatPublicKey(publicKey: KeyObject): string {
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(spkiPrefix.length).toString('base64')
}

/** Parses the text of a public key; undefined if it is not one. */
export function parsePublicKey(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== keySize || bytes.toString('base64') !== text) return undefined
  return createPublicKey({ key: Buffer.concat([spkiPrefix, bytes]), format: 'der', type: 'spki' })
}
