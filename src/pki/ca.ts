import { createPublicKey } from 'node:crypto'
import { makeKeyPair, signingKey } from './keys.ts'
import { validityFrom } from './lifetime.ts'
import { type Random, systemRandom } from './random.ts'
import type { Secret } from './secret.ts'
import { serialNumber } from './serial.ts'
import { nameOf } from './subject.ts'
import { loadX509 } from './x509.ts'

/** Apart from each other, so that who may speak to etcd is decided by etcd's own authority alone. */
export const authorityNames = ['kubernetes', 'etcd', 'front-proxy'] as const
export type AuthorityName = (typeof authorityNames)[number]

export interface Authority {
  readonly name: AuthorityName
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS#8. */
  readonly privateKey: Secret
}

/** `lifetime` is in milliseconds. */
export async function makeAuthority(
  name: AuthorityName,
  lifetime: number,
  now: Date,
  random: Random = systemRandom,
): Promise<Authority> {
  const x509 = await loadX509()
  const { publicKey, privateKey } = await makeKeyPair(authorityKeyName(name))
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  const subject = nameOf(x509, { commonName: `${name}-ca`, organizations: [] })
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject,
    issuer: subject,
    ...validityFrom(now, lifetime),
    publicKey: spki,
    signingKey: signingKey(privateKey),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      // It signs certificates of programs, never other authorities.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(spki),
    ],
  })
  return { name, certificate: `${certificate.toString('pem')}\n`, privateKey }
}

export function authorityKeyName(name: AuthorityName): string {
  return `${name} authority key`
}
