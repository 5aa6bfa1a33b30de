import { z } from 'zod'
import type { Manifest } from '../../kube/object.ts'
import { parseGroup } from '../reference.ts'

/** Namespaced kinds of Kubernetes itself, by API group. */
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
export function addDefaultNamespaces(manifests: readonly Manifest[], all: readonly Manifest[]): Manifest[] {
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
