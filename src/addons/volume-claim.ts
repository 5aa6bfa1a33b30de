import { z } from 'zod'
import type { KubeClient } from '../kube/client.ts'
import { type Kind, kubeObject, type KubeObject } from '../kube/object.ts'
import { findObject } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'

const claim = z.looseObject({
  kind: z.literal('PersistentVolumeClaim'),
  spec: z.looseObject({ storageClassName: z.string().default('') }),
})

const schema = kubeObject.extend({ volumeBindingMode: z.string().optional() })
type StorageClass = z.infer<typeof schema>
const storageClass: Kind<StorageClass> = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', schema }

/** True for a claim that gets its volume only when a pod uses it. Until then it counts as ready. */
export async function isWaitingForConsumer(
  client: KubeClient,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<boolean> {
  const parsed = claim.safeParse(object)
  if (!parsed.success) return false
  const name = parsed.data.spec.storageClassName
  // Without a class an administrator creates the volume at any later time.
  if (name === '') return true
  const found = await findObject(client, storageClass, { name }, options)
  return found?.volumeBindingMode === 'WaitForFirstConsumer'
}
