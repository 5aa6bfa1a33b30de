import { z } from 'zod'
import type { Finding } from '../../contract/finding.ts'
import type { Manifest } from '../../kube/object.ts'
import type { UserAddon } from '../../spec/addons.ts'
import type { DesiredAddon } from '../addon.ts'
import { parseGroup } from '../reference.ts'
import { findManifestSources } from './manifest-sources.ts'
import { parseManifests, readInlineManifests } from './parse-manifests.ts'

export interface UserAddons {
  readonly addons: readonly DesiredAddon[]
  readonly findings: readonly Finding[]
}

/** Reads the enabled user addons in the order of cluster.yml. */
export function readUserAddons(addons: readonly UserAddon[], texts: ReadonlyMap<string, string>): UserAddons {
  const read = addons.flatMap((addon, index) =>
    addon.enabled ? [readUserAddon(addon, texts, `spec.addons[${index}]`)] : [],
  )
  const all = read.flatMap(({ addon }) => addon.manifests)
  return {
    addons: read.map(({ addon }) => ({ ...addon, manifests: addDefaultNamespaces(addon.manifests, all) })),
    findings: read.flatMap(({ findings }) => findings),
  }
}

function readUserAddon(
  userAddon: UserAddon,
  texts: ReadonlyMap<string, string>,
  path: string,
): { readonly addon: DesiredAddon; readonly findings: readonly Finding[] } {
  const { sources, findings } = findManifestSources(userAddon, texts, path)
  const found = [
    ...sources.map(parseManifests),
    ...(Array.isArray(userAddon.inline) ? [readInlineManifests(userAddon.inline, `${path}.inline`)] : []),
  ]
  const { name, wait, timeout, force } = userAddon
  return {
    addon: {
      name,
      manifests: found.flatMap(({ manifests }) => manifests),
      force,
      wait,
      timeoutMs: timeout,
      description: 'user addon',
    },
    findings: [...findings, ...found.flatMap((one) => one.findings)],
  }
}

/** Built-in namespaced kinds of Kubernetes, by API group. */
const namespacedKinds: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  apps: ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  autoscaling: ['HorizontalPodAutoscaler'],
  batch: ['CronJob', 'Job'],
  'coordination.k8s.io': ['Lease'],
  'discovery.k8s.io': ['EndpointSlice'],
  'events.k8s.io': ['Event'],
  'networking.k8s.io': ['Ingress', 'NetworkPolicy'],
  policy: ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io': ['Role', 'RoleBinding'],
  'resource.k8s.io': ['ResourceClaim', 'ResourceClaimTemplate'],
  'storage.k8s.io': ['CSIStorageCapacity'],
}

const namespacedCrd = z.looseObject({
  kind: z.literal('CustomResourceDefinition'),
  spec: z.looseObject({
    group: z.string(),
    scope: z.literal('Namespaced'),
    names: z.looseObject({ kind: z.string() }),
  }),
})

/**
 * Sets the namespace `default` on namespaced manifests without one, as kubectl does. Kinds that are neither
 * built in nor defined by a CRD in `all` stay unchanged, because their scope is unknown.
 */
function addDefaultNamespaces(manifests: readonly Manifest[], all: readonly Manifest[]): Manifest[] {
  const defined = new Set(
    all.flatMap((manifest) => {
      const parsed = namespacedCrd.safeParse(manifest)
      return parsed.success ? [`${parsed.data.spec.group}/${parsed.data.spec.names.kind}`] : []
    }),
  )
  const isNamespaced = ({ apiVersion, kind }: Manifest): boolean => {
    const group = parseGroup(apiVersion)
    const kinds = Object.hasOwn(namespacedKinds, group) ? namespacedKinds[group] : undefined
    return kinds?.includes(kind) === true || defined.has(`${group}/${kind}`)
  }
  return manifests.map((manifest) =>
    manifest.metadata.namespace === undefined && isNamespaced(manifest)
      ? { ...manifest, metadata: { ...manifest.metadata, namespace: 'default' } }
      : manifest,
  )
}
