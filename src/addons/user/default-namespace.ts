import { z } from 'zod'
import type { Manifest } from '../../kube/object.ts'
import { parseGroup } from '../reference.ts'

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

/** Built-in cluster-scoped kinds that addons contain, by API group. */
const clusterKinds: Readonly<Record<string, readonly string[]>> = {
  '': ['Namespace', 'PersistentVolume'],
  'admissionregistration.k8s.io': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'apiregistration.k8s.io': ['APIService'],
  'networking.k8s.io': ['IngressClass'],
  'node.k8s.io': ['RuntimeClass'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding'],
  'scheduling.k8s.io': ['PriorityClass'],
  'storage.k8s.io': ['CSIDriver', 'StorageClass'],
}

const namespacedCrd = z.looseObject({
  kind: z.literal('CustomResourceDefinition'),
  spec: z.looseObject({
    group: z.string(),
    scope: z.literal('Namespaced'),
    names: z.looseObject({ kind: z.string() }),
  }),
})

/** Finds out which manifests are namespaced. `all` are the manifests of all addons, which may contain CRDs. */
export function createScopeLookup(all: readonly Manifest[]): (manifest: Manifest) => boolean {
  const defined = new Set(
    all.flatMap((manifest) => {
      const parsed = namespacedCrd.safeParse(manifest)
      return parsed.success ? [`${parsed.data.spec.group}/${parsed.data.spec.names.kind}`] : []
    }),
  )
  return ({ apiVersion, kind }) => {
    const group = parseGroup(apiVersion)
    return hasKind(namespacedKinds, group, kind) || defined.has(`${group}/${kind}`)
  }
}

function hasKind(
  kindsByGroup: Readonly<Record<string, readonly string[]>>,
  group: string,
  kind: string,
): boolean {
  return Object.hasOwn(kindsByGroup, group) && kindsByGroup[group]?.includes(kind) === true
}

/** Removes the namespace of cluster-scoped manifests. Many charts set it, and Helm ignores it. */
export function dropUselessNamespaces(manifests: readonly Manifest[]): Manifest[] {
  return manifests.map((manifest) => {
    if (!hasKind(clusterKinds, parseGroup(manifest.apiVersion), manifest.kind)) return manifest
    const { namespace: _namespace, ...metadata } = manifest.metadata
    return { ...manifest, metadata }
  })
}

/**
 * Sets the namespace on namespaced manifests without one. Kinds whose scope is unknown stay unchanged: they
 * are neither built in nor defined by a CRD of an addon.
 */
export function addDefaultNamespace(
  manifests: readonly Manifest[],
  namespace: string,
  isNamespaced: (manifest: Manifest) => boolean,
): Manifest[] {
  return manifests.map((manifest) =>
    manifest.metadata.namespace === undefined && isNamespaced(manifest)
      ? { ...manifest, metadata: { ...manifest.metadata, namespace } }
      : manifest,
  )
}
