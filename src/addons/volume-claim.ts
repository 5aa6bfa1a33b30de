import { z } from 'zod'
import type { KubeClient } from '../kube/client.ts'
import { type Kind, kubeObject, type KubeObject } from '../kube/object.ts'
import { find } from '../kube/read-objects.ts'
import type { CallOptions } from '../kube/request.ts'

const claim = z.looseObject({
  kind: z.literal('PersistentVolumeClaim'),
  spec: z.looseObject({ storageClassName: z.string().default('') }),
})

const schema = kubeObject.extend({ volumeBindingMode: z.string().optional() })
type StorageClass = z.infer<typeof schema>
const storageClass: Kind<StorageClass> = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', schema }

/** Whether an object is a claim that gets its volume only when a pod asks for it: until then it is as it shall be. */
export async function waitsForPod(
  client: KubeClient,
  object: KubeObject,
  options: CallOptions = {},
): Promise<boolean> {
  const parsed = claim.safeParse(object)
  if (!parsed.success) return false
  const name = parsed.data.spec.storageClassName
  // Without a class somebody has to make the volume by hand, in their own time.
  if (name === '') return true
  const found = await find(client, storageClass, { name }, options)
  return found?.volumeBindingMode === 'WaitForFirstConsumer'
}
