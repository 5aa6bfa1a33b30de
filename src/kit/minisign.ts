import { createHash } from 'node:crypto'
import { isSignedBy, parsePublicKey } from './signature.ts'

/** Size of a public key of minisign: algorithm, id and Ed25519 key. */
const keySize = 42
/** Size of a signature of minisign: algorithm, id and Ed25519 signature. */
const signedSize = 74

/** True if the text is a public key of minisign: one line, as `minisign -P` takes it. */
export function isMinisignKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === keySize && bytes.toString('latin1', 0, 2) === 'Ed'
}

/**
 * Verifies a signature file of minisign. The signed message is the BLAKE2b-512 hash of the content. Returns
 * the signed comment, or undefined if the signature is not valid for the content and the key.
 */
export function verifyMinisign(content: Uint8Array, text: string, publicKey: string): string | undefined {
  const [, signatureLine = '', commentLine = '', globalLine = ''] = text.split('\n')
  const [signed, known] = [Buffer.from(signatureLine, 'base64'), Buffer.from(publicKey, 'base64')]
  const comment = /^trusted comment: (.*)$/.exec(commentLine)?.[1]
  const key = parsePublicKey(known.subarray(10).toString('base64'))
  if (key === undefined || comment === undefined) return undefined
  if (signed.length !== signedSize || signed.toString('latin1', 0, 2) !== 'ED') return undefined
  if (!signed.subarray(2, 10).equals(known.subarray(2, 10))) return undefined
  const signature = signed.subarray(10)
  const isValid =
    isSignedBy(createHash('blake2b512').update(content).digest(), signature, key) &&
    isSignedBy(Buffer.concat([signature, Buffer.from(comment)]), Buffer.from(globalLine, 'base64'), key)
  return isValid ? comment : undefined
}
