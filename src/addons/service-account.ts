import type { Manifest } from '../kube/object.ts'
import { buildClusterMetadata, addonNamespace, buildNamespacedMetadata } from './manifest-helpers.ts'

export interface ClusterRoleRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export const rbacGroup = 'rbac.authorization.k8s.io'

/** Builds a service account, a cluster role with these rules, and their binding. */
export function buildServiceAccount(
  app: string,
  role: string,
  rules: readonly ClusterRoleRule[],
): Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: buildNamespacedMetadata(app, app) },
    { apiVersion: `${rbacGroup}/v1`, kind: 'ClusterRole', metadata: buildClusterMetadata(role, app), rules },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: buildClusterMetadata(role, app),
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [buildSubject(app)],
    },
  ]
}

export function buildSubject(app: string): Record<string, string> {
  return { kind: 'ServiceAccount', name: app, namespace: addonNamespace }
}
