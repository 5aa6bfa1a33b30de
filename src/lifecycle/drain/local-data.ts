import { z } from 'zod'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import type { Pod } from './pod.ts'

const claim = kubeObject.extend({ spec: z.looseObject({ volumeName: z.string().optional() }) })
const claimKind: Kind<z.infer<typeof claim>> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  schema: claim,
}

const volume = kubeObject.extend({
  spec: z.looseObject({ local: z.looseObject({}).optional(), hostPath: z.looseObject({}).optional() }),
})
const volumeKind: Kind<z.infer<typeof volume>> = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  schema: volume,
}

/** True if the pod has volumes that are deleted together with the pod. */
export function hasEphemeralData({ spec }: Pod): boolean {
  return spec.volumes.some(({ emptyDir, ephemeral }) => emptyDir !== undefined || ephemeral !== undefined)
}

const maxConcurrent = 5

/** Finds pods whose persistent volume is stored on their node. Such pods cannot run on another node. */
export async function findNodeBoundPods(
  api: KubeClient,
  pods: readonly Pod[],
  options: KubeCallOptions = {},
): Promise<Pod[]> {
  const bound = await mapWithConcurrency(maxConcurrent, pods, async (pod) => {
    for (const { persistentVolumeClaim } of pod.spec.volumes) {
      if (persistentVolumeClaim === undefined) continue
      const reference = { namespace: pod.metadata.namespace, name: persistentVolumeClaim.claimName }
      const name = (await findObject(api, claimKind, reference, options))?.spec.volumeName
      const found = name === undefined ? undefined : await findObject(api, volumeKind, { name }, options)
      if (found?.spec.local !== undefined || found?.spec.hostPath !== undefined) return [pod]
    }
    return []
  })
  return bound.flat()
}
