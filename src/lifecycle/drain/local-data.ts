import { z } from 'zod'
import { mapAtMost } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { find } from '../../kube/read-objects.ts'
import type { CallOptions } from '../../kube/request.ts'
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

/** Whether data of a pod ends with it. */
export function losesData({ spec }: Pod): boolean {
  return spec.volumes.some(({ emptyDir, ephemeral }) => emptyDir !== undefined || ephemeral !== undefined)
}

const sideBySide = 5

/** Those with a claimed volume that is a directory of their node: they run nowhere else. */
export async function boundToNode(
  api: KubeClient,
  pods: readonly Pod[],
  options: CallOptions = {},
): Promise<Pod[]> {
  const looked = await mapAtMost(sideBySide, pods, async (pod) => {
    for (const { persistentVolumeClaim } of pod.spec.volumes) {
      if (persistentVolumeClaim === undefined) continue
      const place = { namespace: pod.metadata.namespace, name: persistentVolumeClaim.claimName }
      const name = (await find(api, claimKind, place, options))?.spec.volumeName
      const found = name === undefined ? undefined : await find(api, volumeKind, { name }, options)
      if (found?.spec.local !== undefined || found?.spec.hostPath !== undefined) return [pod]
    }
    return []
  })
  return looked.flat()
}
