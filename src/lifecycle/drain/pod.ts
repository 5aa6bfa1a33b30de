import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { list } from '../../kube/read-objects.ts'
import type { CallOptions } from '../../kube/request.ts'
import { keyOf } from '../../kube/object-store.ts'

const owner = z.looseObject({ kind: z.string(), name: z.string(), controller: z.boolean().optional() })

const volume = z.looseObject({
  name: z.string(),
  emptyDir: z.looseObject({}).optional(),
  /** A volume of its own, that is made and removed with the pod. */
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

/** All pods that a node has, whatever has become of them. */
export async function podsOn(
  api: KubeClient,
  node: string,
  options: CallOptions = {},
): Promise<readonly Pod[]> {
  return (await list(api, podKind, { fields: `spec.nodeName=${node}`, ...options })).items
}

export function controllerOf({
  metadata: { ownerReferences },
}: Pod): Pod['metadata']['ownerReferences'][0] | undefined {
  return ownerReferences.find(({ controller }) => controller === true)
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

/** As people write it: NAMESPACE/NAME. */
export function nameOf({ metadata: own }: Pod): string {
  return keyOf(own)
}

/** It was asked to end, and has not yet. */
export function isEnding({ metadata: { deletionTimestamp } }: Pod): boolean {
  return deletionTimestamp !== undefined
}
