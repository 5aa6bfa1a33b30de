import { z } from 'zod'
import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, type Manifest } from '../../kube/object.ts'
import { find, list } from '../../kube/read-objects.ts'
import { apply, remove } from '../../kube/write-objects.ts'

/** How a pod is that shall show that its node works. */
export type TrialPod =
  | { readonly ready: true; readonly address: string }
  /** One that has ended, perhaps because its node had no room for it, does not begin again. */
  | { readonly ready: false; readonly reason: string; readonly ended?: true }

/** Pods that do nothing, one on each of some nodes. */
export interface TrialPods {
  /** In the place of one that has ended. */
  put(node: string, image: string): Promise<void>
  /** By name of node. */
  look(): Promise<ReadonlyMap<string, TrialPod>>
  remove(): Promise<void>
}

const namespace = 'kube-system'
/** By this one knows them, wherever a run that was cut has left one. */
export const trialLabel = 'hyperkube.dev/trial'

const schema = kubeObject.extend({
  spec: z.looseObject({ nodeName: z.string().optional() }),
  status: z
    .looseObject({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      podIP: z.string().optional(),
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() }))
        .default([]),
      containerStatuses: z
        .array(
          z.looseObject({
            state: z
              .looseObject({
                waiting: z
                  .looseObject({ reason: z.string().optional(), message: z.string().optional() })
                  .optional(),
              })
              .optional(),
          }),
        )
        .default([]),
    })
    .optional(),
})
type Pod = z.infer<typeof schema>
const podKind: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', schema }

export function trialPods(api: KubeClient): TrialPods {
  const ours = async (): Promise<readonly Pod[]> =>
    (await list(api, podKind, { namespace, labels: trialLabel })).items
  return {
    async put(node, image) {
      const wished = manifest(node, image)
      const former = await find(api, podKind, wished.metadata)
      if (former !== undefined && hasEnded(former)) await remove(api, podKind, wished.metadata)
      await apply(api, wished)
    },
    async look() {
      return new Map((await ours()).map((pod) => [pod.metadata.labels?.[trialLabel] ?? '', trialOf(pod)]))
    },
    async remove() {
      const pods = await ours()
      await settleAll(
        pods.map(async ({ metadata }) => remove(api, podKind, { name: metadata.name, namespace })),
      )
    },
  }
}

/** It goes through the scheduler, which is to show that it works, too. */
function manifest(node: string, image: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `hyperkube-trial-${node}`, namespace, labels: { [trialLabel]: node } },
    spec: {
      containers: [{ name: 'pause', image, imagePullPolicy: 'IfNotPresent' }],
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
          },
        },
      },
    },
  }
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded'
}

export function trialOf(pod: Pod): TrialPod {
  const { status } = pod
  if (hasEnded(pod)) {
    const reason = [status?.reason, status?.message].filter(Boolean).join(': ')
    return { ready: false, ended: true, reason: reason === '' ? 'it has ended' : reason }
  }
  const condition = (type: string) => status?.conditions.find((one) => one.type === type)
  const address = status?.podIP
  if (condition('Ready')?.status === 'True' && address !== undefined) return { ready: true, address }
  const waiting = status?.containerStatuses.find(({ state }) => state?.waiting !== undefined)?.state?.waiting
  const scheduled = condition('PodScheduled')
  const reason =
    scheduled?.status === 'False'
      ? `no node for it: ${scheduled.message ?? ''}`
      : waiting !== undefined
        ? [waiting.reason, waiting.message].filter(Boolean).join(': ')
        : scheduled === undefined
          ? 'the scheduler has not seen it'
          : 'its kubelet has not started it'
  return { ready: false, reason }
}
