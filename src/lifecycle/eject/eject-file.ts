import type { CertificateSpec } from '../../contract/certificate-spec.ts'
import type { KubeconfigAccess } from '../../pki/kubeconfig.ts'

/**
 * Content of a written file. Documents contain no secrets: `secret` names a file of the identity, and a
 * `credential` is issued when the file is written.
 */
export type EjectContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'certificate'; readonly credential: string }
  | { readonly kind: 'private-key'; readonly credential: string }
  /** Certificate and key in one file, as kubelets store them. */
  | { readonly kind: 'key-pair'; readonly credential: string }
  | { readonly kind: 'kubeconfig'; readonly credential: string; readonly access: KubeconfigAccess }

/** One file of the output directory. */
export interface EjectFile {
  /** Path in the output directory. */
  readonly path: string
  /** True if operators run the file. */
  readonly executable?: true
  readonly content: EjectContent
}

/** A certificate that is issued while files are written, with a new key. */
export interface CredentialSpec {
  readonly ca: 'kubernetes' | 'etcd' | 'front-proxy'
  readonly spec: CertificateSpec
}

/** Files and credentials of one host or of the cluster. */
export interface EjectDocuments {
  readonly files: readonly EjectFile[]
  /** Credentials by the name that files use. */
  readonly credentials: ReadonlyMap<string, CredentialSpec>
}

/** Validity of certificates of kubeadm, in milliseconds. */
const certificateLifetime = 365 * 24 * 3_600_000

/** Describes a client certificate. */
export function describeClient(
  ca: CredentialSpec['ca'],
  commonName: string,
  ...organizations: readonly string[]
): CredentialSpec {
  const subject = { commonName, organizations }
  return {
    ca,
    spec: { subject, names: { dns: [], ip: [] }, usages: ['client'], lifetime: certificateLifetime },
  }
}

/** Describes a server certificate with the names of a planned certificate. */
export function describeServer(
  ca: CredentialSpec['ca'],
  commonName: string,
  names: CertificateSpec['names'],
  usages: CertificateSpec['usages'] = ['server'],
): CredentialSpec {
  return {
    ca,
    spec: { subject: { commonName, organizations: [] }, names, usages, lifetime: certificateLifetime },
  }
}
