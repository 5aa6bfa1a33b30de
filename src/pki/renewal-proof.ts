import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto'
import { renewalSigner } from '../contract/renewal.ts'

/**
 * Proves that the requester holds the key of the previous certificate: returns a base64 signature over
 * request and certificate. Both are PEM.
 */
export function proveRenewal(request: string, previous: string, privateKey: string): string {
  const statement = buildStatement(request, new X509Certificate(previous))
  return sign('sha256', statement, createPrivateKey(privateKey)).toString('base64')
}

export function isRenewalProven(request: string, previous: X509Certificate, proof: string): boolean {
  return isSigned(buildStatement(request, previous), previous.publicKey, Buffer.from(proof, 'base64'))
}

/** The prefix keeps this signature apart from all others that the key makes. */
function buildStatement(request: string, previous: X509Certificate): Buffer {
  return Buffer.from(`${renewalSigner}\n${previous.fingerprint256}\n${request}`)
}

function isSigned(statement: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify('sha256', statement, key, signature)
  } catch {
    // Keys of other types cannot verify such a signature.
    return false
  }
}
