import { createPublicKey } from 'node:crypto'
import { makeKeyPair, signingKey } from './keys.ts'
import type { AlternativeNames, CertificateSubject } from './names.ts'
import type { Secret } from './secret.ts'
import { buildX509Name, namesExtension } from './subject.ts'
import { loadX509 } from './x509.ts'

/** Made by a host: the key stays there, the request goes to the signer. */
export interface CertificateRequest {
  /** PEM, PKCS#8. */
  readonly privateKey: Secret
  /** PEM, PKCS#10. */
  readonly request: string
}

/** `keyName` is the name of the key where secrets are printed. */
export async function makeRequest(
  keyName: string,
  subject: CertificateSubject,
  names: AlternativeNames,
): Promise<CertificateRequest> {
  const x509 = await loadX509()
  const pair = await makeKeyPair(keyName)
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' }
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: buildX509Name(x509, subject),
    keys: {
      privateKey: signingKey(pair.privateKey),
      publicKey: createPublicKey(pair.publicKey).toCryptoKey(ecdsa, true, ['verify']),
    },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: namesExtension(x509, names),
  })
  return { privateKey: pair.privateKey, request: `${request.toString('pem')}\n` }
}
