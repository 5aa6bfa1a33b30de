import { parseGroup } from '../../../addons/reference.ts'
import type { ControllerRule } from '../../controller.ts'

/**
 * The usual kinds of addon objects. Secrets are left out, because the controller does not need to read them.
 */
export const readableKinds = [
  ['v1', 'ConfigMap', 'configmaps'],
  ['v1', 'Namespace', 'namespaces'],
  ['v1', 'Service', 'services'],
  ['v1', 'ServiceAccount', 'serviceaccounts'],
  ['apiregistration.k8s.io/v1', 'APIService', 'apiservices'],
  ['apps/v1', 'DaemonSet', 'daemonsets'],
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'StatefulSet', 'statefulsets'],
  ['networking.k8s.io/v1', 'IngressClass', 'ingressclasses'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings'],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'],
  ['storage.k8s.io/v1', 'StorageClass', 'storageclasses'],
] as const

export const readRules: readonly ControllerRule[] = [
  ...Map.groupBy(readableKinds, ([apiVersion]) => parseGroup(apiVersion)),
].map(([group, kinds]) => ({
  ...{ apiGroups: [group], resources: kinds.map(([, , plural]) => plural) },
  verbs: ['get', 'list'],
}))

/** True if the controller may read objects of this kind. */
export function isReadableKind({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}): boolean {
  return readableKinds.some(([version, name]) => version === apiVersion && name === kind)
}
