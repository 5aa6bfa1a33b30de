import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto'
import { renewalSigner } from '../contract/renewal.ts'

/**
 * Signs request and previous certificate (both PEM) with the key of the previous certificate. The base64
 * signature proves that the requester has this key.
 */
export function proveRenewal(request: string, previous: string, privateKey: string): string {
  const statement = buildStatement(request, new X509Certificate(previous))
  return sign('sha256', statement, createPrivateKey(privateKey)).toString('base64')
}

export function isRenewalProven(request: string, previous: X509Certificate, proof: string): boolean {
  return isSigned(buildStatement(request, previous), previous.publicKey, Buffer.from(proof, 'base64'))
}

/** Builds the text to sign. Its prefix prevents the signature from being used for another purpose. */
function buildStatement(request: string, previous: X509Certificate): Buffer {
  return Buffer.from(`${renewalSigner}\n${previous.fingerprint256}\n${request}`)
}

function isSigned(statement: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify('sha256', statement, key, signature)
  } catch {
    // A key of another type cannot verify the signature.
    return false
  }
}
