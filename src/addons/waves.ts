import { parseGroup, type ObjectReference } from './reference.ts'

/**
 * Waves in the order of applying. A wave starts when the previous one is ready. Objects are removed in
 * reverse order.
 */
export const waves = [
  'definitions',
  'basics',
  'rbac',
  'settings',
  'workloads',
  'extensions',
  'custom resources',
] as const
export type Wave = (typeof waves)[number]

const rbac = 'rbac.authorization.k8s.io'
const admission = 'admissionregistration.k8s.io'

/**
 * Wave of each kind, by API group and kind. Kinds that are not listed belong to the workloads, except custom
 * resources of the addon. PersistentVolumeClaims are workloads too, because a workload of the addon may
 * create the volumes.
 */
const waveByKind: Readonly<Record<string, Wave>> = {
  'apiextensions.k8s.io/CustomResourceDefinition': 'definitions',
  '/Namespace': 'basics',
  'scheduling.k8s.io/PriorityClass': 'basics',
  'node.k8s.io/RuntimeClass': 'basics',
  'networking.k8s.io/IngressClass': 'basics',
  'gateway.networking.k8s.io/GatewayClass': 'basics',
  '/ServiceAccount': 'rbac',
  [`${rbac}/ClusterRole`]: 'rbac',
  [`${rbac}/ClusterRoleBinding`]: 'rbac',
  [`${rbac}/Role`]: 'rbac',
  [`${rbac}/RoleBinding`]: 'rbac',
  '/ConfigMap': 'settings',
  '/Secret': 'settings',
  '/Service': 'settings',
  '/LimitRange': 'settings',
  '/ResourceQuota': 'settings',
  '/PersistentVolume': 'settings',
  'storage.k8s.io/StorageClass': 'settings',
  'storage.k8s.io/CSIDriver': 'settings',
  // The API server calls workloads through these objects. If they existed before the workloads run, the API
  // server would reject later objects.
  'apiregistration.k8s.io/APIService': 'extensions',
  [`${admission}/MutatingWebhookConfiguration`]: 'extensions',
  [`${admission}/ValidatingWebhookConfiguration`]: 'extensions',
}

/** Groups the objects of one addon by wave, in wave order. Empty waves are left out. */
export function groupIntoWaves<T>(items: readonly T[], referenceTo: (item: T) => ObjectReference): T[][] {
  const ownGroups = findDefinedGroups(items.map(referenceTo))
  const grouped = Map.groupBy(items, (item) => findWave(referenceTo(item), ownGroups))
  return waves.flatMap((wave) => {
    const members = grouped.get(wave)
    return members === undefined ? [] : [members]
  })
}

/** Lists the API groups whose CRDs are part of the addon. The name of a CRD is PLURAL.GROUP. */
export function findDefinedGroups(references: readonly ObjectReference[]): ReadonlySet<string> {
  return new Set(references.filter(isCrd).map(({ name }) => name.slice(name.indexOf('.') + 1)))
}

export function isCrd({ apiVersion, kind }: ObjectReference): boolean {
  return kind === 'CustomResourceDefinition' && parseGroup(apiVersion) === 'apiextensions.k8s.io'
}

export function isNamespace({ apiVersion, kind }: ObjectReference): boolean {
  return kind === 'Namespace' && parseGroup(apiVersion) === ''
}

/** True if the object is applied only after the workloads of its addon are ready. */
export function needsWorkloads(reference: ObjectReference, ownGroups: ReadonlySet<string>): boolean {
  const wave = findWave(reference, ownGroups)
  return wave === 'extensions' || wave === 'custom resources'
}

function findWave({ apiVersion, kind }: ObjectReference, ownGroups: ReadonlySet<string>): Wave {
  const group = parseGroup(apiVersion)
  const kindOfGroup = `${group}/${kind}`
  if (Object.hasOwn(waveByKind, kindOfGroup)) return waveByKind[kindOfGroup] ?? 'workloads'
  return ownGroups.has(group) ? 'custom resources' : 'workloads'
}
