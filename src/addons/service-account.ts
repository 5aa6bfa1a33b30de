import type { Manifest } from '../kube/object.ts'
import { clusterWide, namespace, namespaced } from './manifest-helpers.ts'

export interface Right {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export const rbac = 'rbac.authorization.k8s.io'

/** An account, and what it may do in the whole cluster. */
export function account(app: string, role: string, rules: readonly Right[]): Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: namespaced(app, app) },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: clusterWide(role, app), rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: clusterWide(role, app),
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [subject(app)],
    },
  ]
}

export function subject(app: string): Record<string, string> {
  return { kind: 'ServiceAccount', name: app, namespace }
}
