import type { AuthorityName } from './ca.ts'
import type { Subject } from './names.ts'

/** Of components that are on every node: each has its own key, and all of them the same name. */
const shared: readonly Subject[] = [
  { commonName: 'system:kube-proxy', organizations: [] },
  { commonName: 'hyperkube:flannel', organizations: [] },
]

/**
 * Whether a node may have a certificate renewed by others: one that hosts without keys of authorities have. The authority
 * of the cluster signs for people, too, and what was given to them for a day must not live for ever.
 */
export function isRenewable(
  authority: AuthorityName,
  { commonName, organizations }: Subject,
  /** As whom the node asks. */
  requester: string,
): boolean {
  if (!requester.startsWith('system:node:')) return false
  if (authority === 'etcd') return true
  if (authority !== 'kubernetes') return false
  if (commonName === requester) return isOnly(organizations, 'system:nodes')
  if (commonName.startsWith('hyperkube:apiserver-proxy:'))
    return isOnly(organizations, 'hyperkube:apiserver-proxies')
  return shared.some((one) => one.commonName === commonName) && organizations.length === 0
}

function isOnly(organizations: readonly string[], one: string): boolean {
  return organizations.length === 1 && organizations[0] === one
}
