import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import { formatObjectKey } from '../../kube/object-store.ts'

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
  metadata: metadata.extend({
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
