import type { CaName } from './ca.ts'
import type { CertificateSubject } from './names.ts'

/** Components on every node. Each node has its own key, and all nodes share the subject. */
const sharedSubjects: readonly CertificateSubject[] = [
  { commonName: 'system:kube-proxy', organizations: [] },
  { commonName: 'hyperkube:flannel', organizations: [] },
]

/**
 * True if the certificate is one of those that hosts without CA keys have, so that a node may renew it. The
 * kubernetes CA also signs for people. Their certificates must not be renewable, or a one-day certificate
 * would live forever.
 */
export function isRenewable(
  ca: CaName,
  { commonName, organizations }: CertificateSubject,
  /** User name of the node. */
  requester: string,
): boolean {
  if (!requester.startsWith('system:node:')) return false
  if (ca === 'etcd') return true
  if (ca !== 'kubernetes') return false
  if (commonName === requester) return hasOnly(organizations, 'system:nodes')
  if (commonName.startsWith('hyperkube:apiserver-proxy:'))
    return hasOnly(organizations, 'hyperkube:apiserver-proxies')
  return sharedSubjects.some((one) => one.commonName === commonName) && organizations.length === 0
}

function hasOnly(organizations: readonly string[], one: string): boolean {
  return organizations.length === 1 && organizations[0] === one
}
