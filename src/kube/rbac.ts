import type { Manifest } from './object.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = `${group}/v1`

/** A user or group, as named in the subject of a client certificate. */
export interface RbacSubject {
  readonly kind: 'User' | 'Group'
  readonly name: string
}

export interface RbacRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

/** Builds a Role if a namespace is given, and otherwise a ClusterRole. */
export function buildRole(name: string, rules: readonly RbacRule[], namespace?: string): Manifest {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  return { apiVersion: rbac, kind, metadata: buildMetadata(name, namespace), rules }
}

/**
 * Builds the binding of a role to a subject: a RoleBinding if a namespace is given, and otherwise a
 * ClusterRoleBinding.
 */
export function buildRoleBinding(
  name: string,
  roleName: string,
  subject: RbacSubject,
  namespace?: string,
): Manifest {
  const [kind, roleKind] =
    namespace === undefined ? ['ClusterRoleBinding', 'ClusterRole'] : ['RoleBinding', 'Role']
  return {
    apiVersion: rbac,
    kind,
    metadata: buildMetadata(name, namespace),
    roleRef: { apiGroup: group, kind: roleKind, name: roleName },
    subjects: [{ apiGroup: group, ...subject }],
  }
}

function buildMetadata(name: string, namespace: string | undefined): Manifest['metadata'] {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}
