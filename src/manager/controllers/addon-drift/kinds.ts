import { groupOf } from '../../../addons/reference.ts'
import type { Right } from '../../controller.ts'

/** What addons are mostly made of. Secrets are not read by anybody who does not need them. */
export const seenKinds = [
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

export const seeRights: readonly Right[] = [
  ...Map.groupBy(seenKinds, ([apiVersion]) => groupOf(apiVersion)),
].map(([group, kinds]) => ({
  ...{ apiGroups: [group], resources: kinds.map(([, , plural]) => plural) },
  verbs: ['get', 'list'],
}))

/** Whether it can be told at all how an object of a manifest is. */
export function isSeen({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}): boolean {
  return seenKinds.some(([version, name]) => version === apiVersion && name === kind)
}
