import { createPublicKey } from 'node:crypto'
import { loadSigningKey, makeKeyPair, type Random, systemRandom } from './keys.ts'
import { validityFrom } from './lifetime.ts'
import type { Secret } from './secret.ts'
import { buildX509Name, loadX509, serialNumber } from './x509.ts'

/** Names of the cluster's CAs. etcd has its own CA, so that other certificates give no access to etcd. */
export const caNames = ['kubernetes', 'etcd', 'front-proxy'] as const
export type CaName = (typeof caNames)[number]

export interface Ca {
  readonly name: CaName
  /** CA certificate as PEM. */
  readonly certificate: string
  /** Private key as PEM (PKCS#8). */
  readonly privateKey: Secret
}

/**
 * Common names of CA certificates: of those that hyperkube creates, then of those that kubeadm and RKE1 create.
 * etcd of RKE1 has no CA of its own.
 */
export const caCommonNames: Readonly<Record<CaName, readonly string[]>> = {
  kubernetes: ['kubernetes-ca', 'kubernetes', 'kube-ca'],
  etcd: ['etcd-ca', 'kube-ca'],
  'front-proxy': ['front-proxy-ca', 'kube-apiserver-requestheader-ca'],
}

/** Creates a self-signed CA certificate with a new key. */
export async function createCa(
  name: CaName,
  lifetimeMs: number,
  now: Date,
  random: Random = systemRandom,
): Promise<Ca> {
  const x509 = await loadX509()
  const { publicKey, privateKey } = await makeKeyPair(caKeyName(name))
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  const { key, algorithm } = loadSigningKey(privateKey)
  const subject = buildX509Name(x509, { commonName: `${name}-ca`, organizations: [] })
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject,
    issuer: subject,
    ...validityFrom(now, lifetimeMs),
    publicKey: spki,
    signingKey: key,
    signingAlgorithm: algorithm,
    extensions: [
      // Path length 0: the CA cannot sign intermediate CAs.
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
