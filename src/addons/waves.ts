import { groupOf, type Reference } from './reference.ts'

/** In this order objects are put there, each wave once the one before it is ready. They go in the reverse order. */
export const waves = [
  'definitions',
  'basics',
  'rights',
  'settings',
  'workloads',
  'extensions',
  'custom resources',
] as const
export type Wave = (typeof waves)[number]

const rbac = 'rbac.authorization.k8s.io'
const admission = 'admissionregistration.k8s.io'

/** By group and kind. What is not here is of the workloads: claims, too, as the workload may be what makes volumes. */
const known: Readonly<Record<string, Wave>> = {
  'apiextensions.k8s.io/CustomResourceDefinition': 'definitions',
  '/Namespace': 'basics',
  'scheduling.k8s.io/PriorityClass': 'basics',
  'node.k8s.io/RuntimeClass': 'basics',
  'networking.k8s.io/IngressClass': 'basics',
  'gateway.networking.k8s.io/GatewayClass': 'basics',
  '/ServiceAccount': 'rights',
  [`${rbac}/ClusterRole`]: 'rights',
  [`${rbac}/ClusterRoleBinding`]: 'rights',
  [`${rbac}/Role`]: 'rights',
  [`${rbac}/RoleBinding`]: 'rights',
  '/ConfigMap': 'settings',
  '/Secret': 'settings',
  '/Service': 'settings',
  '/LimitRange': 'settings',
  '/ResourceQuota': 'settings',
  '/PersistentVolume': 'settings',
  'storage.k8s.io/StorageClass': 'settings',
  'storage.k8s.io/CSIDriver': 'settings',
  // The API asks the workloads through these: before they answer, it would refuse what is to come.
  'apiregistration.k8s.io/APIService': 'extensions',
  [`${admission}/MutatingWebhookConfiguration`]: 'extensions',
  [`${admission}/ValidatingWebhookConfiguration`]: 'extensions',
}

/** Objects of one addon, in waves that have any. */
export function inWaves<T>(things: readonly T[], referenceTo: (thing: T) => Reference): T[][] {
  const own = definedGroups(things.map(referenceTo))
  const grouped = Map.groupBy(things, (thing) => waveOf(referenceTo(thing), own))
  return waves.flatMap((wave) => {
    const members = grouped.get(wave)
    return members === undefined ? [] : [members]
  })
}

/** Whose custom resources an addon defines itself: the name of a definition is the plural and the group. */
export function definedGroups(references: readonly Reference[]): ReadonlySet<string> {
  return new Set(references.filter(isDefinition).map(({ name }) => name.slice(name.indexOf('.') + 1)))
}

export function isDefinition({ apiVersion, kind }: Reference): boolean {
  return kind === 'CustomResourceDefinition' && groupOf(apiVersion) === 'apiextensions.k8s.io'
}

export function isNamespace({ apiVersion, kind }: Reference): boolean {
  return kind === 'Namespace' && groupOf(apiVersion) === ''
}

/** Whether an object is only put there once the workloads of its addon are ready. */
export function needsWorkloads(reference: Reference, own: ReadonlySet<string>): boolean {
  const wave = waveOf(reference, own)
  return wave === 'extensions' || wave === 'custom resources'
}

function waveOf({ apiVersion, kind }: Reference, own: ReadonlySet<string>): Wave {
  const group = groupOf(apiVersion)
  const kindOfGroup = `${group}/${kind}`
  if (Object.hasOwn(known, kindOfGroup)) return known[kindOfGroup] ?? 'workloads'
  return own.has(group) ? 'custom resources' : 'workloads'
}
