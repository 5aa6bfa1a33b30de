import { z } from 'zod'
import type { Manifest } from '../../kube/object.ts'
import { groupOf } from '../reference.ts'

/** Kinds of Kubernetes itself that are in namespaces, by group. */
const builtIn: Readonly<Record<string, readonly string[]>> = {
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

const definition = z.looseObject({
  kind: z.literal('CustomResourceDefinition'),
  spec: z.looseObject({
    group: z.string(),
    scope: z.literal('Namespaced'),
    names: z.looseObject({ kind: z.string() }),
  }),
})

/**
 * Manifests that say no namespace are for `default`, as they are for kubectl. Of a kind that nobody here defines it is
 * not known whether it is in namespaces at all: there the API has the last word.
 */
export function withNamespaces(manifests: readonly Manifest[], all: readonly Manifest[]): Manifest[] {
  const defined = new Set(
    all.flatMap((manifest) => {
      const parsed = definition.safeParse(manifest)
      return parsed.success ? [`${parsed.data.spec.group}/${parsed.data.spec.names.kind}`] : []
    }),
  )
  const isNamespaced = ({ apiVersion, kind }: Manifest): boolean => {
    const group = groupOf(apiVersion)
    const kinds = Object.hasOwn(builtIn, group) ? builtIn[group] : undefined
    return kinds?.includes(kind) === true || defined.has(`${group}/${kind}`)
  }
  return manifests.map((manifest) =>
    manifest.metadata.namespace === undefined && isNamespaced(manifest)
      ? { ...manifest, metadata: { ...manifest.metadata, namespace: 'default' } }
      : manifest,
  )
}
