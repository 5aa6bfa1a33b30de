import { createPublicKey } from 'node:crypto'
import { makeKeyPair, signingKey } from './keys.ts'
import { validityFrom } from './lifetime.ts'
import { type Random, systemRandom } from './random.ts'
import type { Secret } from './secret.ts'
import { serialNumber } from './serial.ts'
import { buildX509Name } from './subject.ts'
import { loadX509 } from './x509.ts'

/** Separate CAs, so that only certificates of the etcd CA give access to etcd. */
export const caNames = ['kubernetes', 'etcd', 'front-proxy'] as const
export type CaName = (typeof caNames)[number]

export interface Ca {
  readonly name: CaName
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS#8. */
  readonly privateKey: Secret
}

/** `lifetime` is in milliseconds. */
export async function createCa(
  name: CaName,
  lifetimeMs: number,
  now: Date,
  random: Random = systemRandom,
): Promise<Ca> {
  const x509 = await loadX509()
  const { publicKey, privateKey } = await makeKeyPair(caKeyName(name))
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  const subject = buildX509Name(x509, { commonName: `${name}-ca`, organizations: [] })
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject,
    issuer: subject,
    ...validityFrom(now, lifetimeMs),
    publicKey: spki,
    signingKey: signingKey(privateKey),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      // The CA signs certificates of components, never intermediate CAs.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(spki),
    ],
  })
  return { name, certificate: `${certificate.toString('pem')}\n`, privateKey }
}

export function caKeyName(name: CaName): string {
  return `${name} CA key`
}
