import type { Manifest } from './object.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = `${group}/v1`

/** Who is given rights, by the name in a certificate. */
export interface Subject {
  readonly kind: 'User' | 'Group'
  readonly name: string
}

export interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

/** What may be done: in a namespace, where one is given, or everywhere. */
export function role(name: string, rules: readonly Rule[], namespace?: string): Manifest {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  return { apiVersion: rbac, kind, metadata: metadata(name, namespace), rules }
}

/** Gives a role of the same place to somebody. */
export function binding(name: string, roleName: string, subject: Subject, namespace?: string): Manifest {
  const [kind, refers] =
    namespace === undefined ? ['ClusterRoleBinding', 'ClusterRole'] : ['RoleBinding', 'Role']
  return {
    apiVersion: rbac,
    kind,
    metadata: metadata(name, namespace),
    roleRef: { apiGroup: group, kind: refers, name: roleName },
    subjects: [{ apiGroup: group, ...subject }],
  }
}

function metadata(name: string, namespace: string | undefined): Manifest['metadata'] {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}
