import { z } from 'zod'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, type Manifest } from '../../kube/object.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { applyObject, deleteKubeObject } from '../../kube/write-objects.ts'

/** State of a smoke test pod, which proves that its node works. */
export type SmokeTestPod =
  /** A pod of a dual-stack cluster has an address of each family. */
  | { readonly ready: true; readonly addresses: readonly string[] }
  /**
   * `ended` is set if the pod has ended and will not start again, for example because its node had no room.
   */
  | { readonly ready: false; readonly reason: string; readonly ended?: true }

/** Manages smoke test pods: one idle pod for each node. */
export interface SmokeTestPods {
  /** Creates the pod of a node. A pod that has ended is replaced. */
  create(node: string, image: string): Promise<void>
  /** Returns the pods by node name. */
  list(): Promise<ReadonlyMap<string, SmokeTestPod>>
  remove(): Promise<void>
}

const namespace = 'kube-system'
/**
 * Maximum number of concurrent requests. With more, requests that wait for a free connection could time out.
 */
export const maxConcurrentPods = 16
/** Label of smoke test pods. It also finds pods that an interrupted run has left behind. */
export const smokeTestLabel = 'hyperkube.dev/smoke-test'

const podSchema = kubeObject.extend({
  spec: z.looseObject({ nodeName: z.string().optional() }),
  status: z
    .looseObject({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      podIPs: z.array(z.looseObject({ ip: z.string() })).default([]),
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
type Pod = z.infer<typeof podSchema>
const podKind: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', schema: podSchema }

export function createSmokeTestPods(api: KubeClient): SmokeTestPods {
  const listOwnPods = async (): Promise<readonly Pod[]> =>
    (await listObjects(api, podKind, { namespace, labels: smokeTestLabel })).items
  return {
    async create(node, image) {
      const desired = buildManifest(node, image)
      const existing = await findObject(api, podKind, desired.metadata)
      if (existing !== undefined && hasEnded(existing)) await deleteKubeObject(api, podKind, desired.metadata)
      await applyObject(api, desired)
    },
    async list() {
      return new Map(
        (await listOwnPods()).map((pod) => [
          pod.metadata.labels?.[smokeTestLabel] ?? '',
          toSmokeTestPod(pod),
        ]),
      )
    },
    async remove() {
      await mapWithConcurrency(maxConcurrentPods, await listOwnPods(), async ({ metadata }) =>
        deleteKubeObject(api, podKind, { name: metadata.name, namespace }),
      )
    },
  }
}

/** Builds a pod that the scheduler must assign to the node, so the test covers the scheduler too. */
function buildManifest(node: string, image: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `hyperkube-smoke-test-${node}`, namespace, labels: { [smokeTestLabel]: node } },
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

function toSmokeTestPod(pod: Pod): SmokeTestPod {
  const { status } = pod
  if (hasEnded(pod)) {
    const reason = [status?.reason, status?.message].filter(Boolean).join(': ')
    return { ready: false, ended: true, reason: reason === '' ? 'the pod has ended' : reason }
  }
  const findCondition = (type: string) => status?.conditions.find((one) => one.type === type)
  const addresses = (status?.podIPs ?? []).map(({ ip }) => ip)
  if (findCondition('Ready')?.status === 'True' && addresses.length > 0) return { ready: true, addresses }
  const waiting = status?.containerStatuses.find(({ state }) => state?.waiting !== undefined)?.state?.waiting
  const scheduled = findCondition('PodScheduled')
  const reason =
    scheduled?.status === 'False'
      ? `unschedulable: ${scheduled.message ?? ''}`
      : waiting !== undefined
        ? [waiting.reason, waiting.message].filter(Boolean).join(': ')
        : scheduled === undefined
          ? 'the pod is not scheduled yet'
          : 'the kubelet has not started the pod'
  return { ready: false, reason }
}
