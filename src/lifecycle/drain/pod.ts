import { z } from 'zod'
import type { Finding } from '../../contract/finding.ts'
import { truncateList } from '../../kit/text.ts'
import type { KubeClient } from '../../kube/client.ts'
import { formatObjectKey } from '../../kube/object-store.ts'
import { type Kind, kubeObject, metadata as objectMetadata } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import { smokeTestLabel } from '../smoke-test/smoke-test-pods.ts'

const owner = z.looseObject({ kind: z.string(), name: z.string(), controller: z.boolean().optional() })

const volume = z.looseObject({
  name: z.string(),
  emptyDir: z.looseObject({}).optional(),
  /** A generic ephemeral volume, which is created and deleted together with the pod. */
  ephemeral: z.looseObject({}).optional(),
  persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
})

const toleration = z.looseObject({
  key: z.string().optional(),
  operator: z.string().optional(),
  effect: z.string().optional(),
})

const schema = kubeObject.extend({
  metadata: objectMetadata.extend({
    namespace: z.string(),
    uid: z.string(),
    ownerReferences: z.array(owner).default([]),
    finalizers: z.array(z.string()).default([]),
  }),
  spec: z.looseObject({
    volumes: z.array(volume).default([]),
    tolerations: z.array(toleration).default([]),
  }),
  status: z
    .looseObject({
      phase: z.string().optional(),
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).default([]),
    })
    .optional(),
})
export type Pod = z.infer<typeof schema>

export const podKind: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', schema }

/** Lists all pods of a node, in any phase. */
export async function listNodePods(
  api: KubeClient,
  node: string,
  options: KubeCallOptions = {},
): Promise<readonly Pod[]> {
  return (await listObjects(api, podKind, { fields: `spec.nodeName=${node}`, ...options })).items
}

export function findController({
  metadata: { ownerReferences },
}: Pod): Pod['metadata']['ownerReferences'][0] | undefined {
  return ownerReferences.find(({ controller }) => controller === true)
}

export function isPodReady({ status }: Pod): boolean {
  return status?.conditions.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

/** Formats the name of a pod as NAMESPACE/NAME. */
export function formatPodName({ metadata: own }: Pod): string {
  return formatObjectKey(own)
}

export function isTerminating({ metadata: { deletionTimestamp } }: Pod): boolean {
  return deletionTimestamp !== undefined
}

/** Pods of a node, grouped by what a drain does with them. */
export interface SortedPods {
  /** Pods that are not evicted: they belong to the node or have ended already. */
  readonly staying: readonly Pod[]
  /** Pods that are evicted and whose controllers create replacements elsewhere. */
  readonly moving: readonly Pod[]
  /** Pods that are evicted and not created again, because they have no controller. */
  readonly unmanaged: readonly Pod[]
}

export function sortPods(pods: readonly Pod[]): SortedPods {
  const podsToEvict = pods.filter((pod) => !staysOnNode(pod))
  return {
    staying: pods.filter(staysOnNode),
    moving: podsToEvict.filter(isManaged),
    unmanaged: podsToEvict.filter((pod) => !isManaged(pod)),
  }
}

function staysOnNode(pod: Pod): boolean {
  const { metadata } = pod
  // A mirror pod only represents a static pod of the kubelet. Evicting it would not stop the static pod.
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  // A DaemonSet would at once create its pod on the same node again, so its pods stay.
  return isMirror || hasEnded(pod) || findController(pod)?.kind === 'DaemonSet'
}

/**
 * True if the pod has ended and the drain need not wait for it. An ended pod that is being deleted will
 * disappear soon, so the drain waits for it, unless finalizers keep the pod.
 */
function hasEnded(pod: Pod): boolean {
  const { status, metadata } = pod
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return isOver && (!isTerminating(pod) || metadata.finalizers.length > 0)
}

/**
 * True if the pod may be evicted without `force`: it has a controller, is already terminating, or is a smoke
 * test pod.
 */
function isManaged(pod: Pod): boolean {
  return (
    findController(pod) !== undefined ||
    isTerminating(pod) ||
    pod.metadata.labels?.[smokeTestLabel] !== undefined
  )
}

/** True if the scheduler may place this pod on a cordoned node. */
export function ignoresCordon({ spec }: Pod): boolean {
  return spec.tolerations.some(
    ({ key = '', operator, effect = '' }) =>
      (key === '' ? operator === 'Exists' : key === 'node.kubernetes.io/unschedulable') &&
      (effect === '' || effect === 'NoSchedule'),
  )
}

export const maxNamedPods = 5

/** Builds a finding about pods without a controller; undefined if `pods` is empty. */
export function buildUnmanagedFinding(node: string, pods: readonly Pod[]): Finding | undefined {
  if (pods.length === 0) return undefined
  return {
    code: 'NODE_PODS_UNMANAGED',
    severity: 'warning',
    message: `these pods have no controller; after their eviction from ${node} they will not run again: ${truncateList(pods.map(formatPodName), maxNamedPods)}`,
    hint: 'save the manifests that you need: kubectl get pod NAME -o yaml',
    host: node,
  }
}
