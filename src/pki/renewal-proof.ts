import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto'
import { renewalSigner } from '../contract/renewal.ts'

/**
 * Shows that whoever asks for a new certificate holds the key of the former one: a signature, in base64, over both. Both
 * are PEM.
 */
export function proveRenewal(request: string, former: string, privateKey: string): string {
  const statement = statementOf(request, new X509Certificate(former))
  return sign('sha256', statement, createPrivateKey(privateKey)).toString('base64')
}

export function isProven(request: string, former: X509Certificate, proof: string): boolean {
  return isSigned(statementOf(request, former), former.publicKey, Buffer.from(proof, 'base64'))
}

/** The key signs elsewhere, too: nothing that it signs there begins like this. */
function statementOf(request: string, former: X509Certificate): Buffer {
  return Buffer.from(`${renewalSigner}\n${former.fingerprint256}\n${request}`)
}

function isSigned(statement: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify('sha256', statement, key, signature)
  } catch {
    // A key of another kind takes no such signature.
    return false
  }
}
