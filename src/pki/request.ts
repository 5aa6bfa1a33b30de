import { createPublicKey } from 'node:crypto'
import { loadSigningKey, makeKeyPair } from './keys.ts'
import type { AlternativeNames, CertificateSubject } from './names.ts'
import type { Secret } from './secret.ts'
import { buildX509Name, loadX509, namesExtension } from './x509.ts'

/**
 * A private key and the signing request for it. The key never leaves the host; only the request is sent to
 * the signer.
 */
export interface CertificateRequest {
  /** Private key as PEM (PKCS#8). */
  readonly privateKey: Secret
  /** Certificate signing request as PEM (PKCS#10). */
  readonly request: string
}

/** Creates a key and its signing request. `keyName` is the name of the key in log output. */
export async function makeRequest(
  keyName: string,
  subject: CertificateSubject,
  names: AlternativeNames,
): Promise<CertificateRequest> {
  const x509 = await loadX509()
  const pair = await makeKeyPair(keyName)
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' }
  const { key, algorithm } = loadSigningKey(pair.privateKey)
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: buildX509Name(x509, subject),
    keys: {
      privateKey: key,
      publicKey: createPublicKey(pair.publicKey).toCryptoKey(ecdsa, true, ['verify']),
    },
    signingAlgorithm: algorithm,
    extensions: namesExtension(x509, names),
  })
  return { privateKey: pair.privateKey, request: `${request.toString('pem')}\n` }
}
