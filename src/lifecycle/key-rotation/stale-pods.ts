import { z } from 'zod'
import { addonLabel } from '../../addons/addon.ts'
import { mapWithConcurrency } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, createUntypedKind, kubeObject, metadata } from '../../kube/object.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { rootCaName } from './pod-trust.ts'

/** Maximum time in milliseconds until a kubelet has updated the volumes of a running pod. */
const volumeRefreshMs = 180_000

const owner = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  controller: z.boolean().optional(),
})
type OwnerReference = z.infer<typeof owner>
const owned = metadata.extend({ ownerReferences: z.array(owner).default([]) })
interface OwnedObject {
  readonly metadata: z.infer<typeof owned>
}
const running = z.looseObject({
  state: z.looseObject({ running: z.looseObject({ startedAt: z.string() }).optional() }).optional(),
})
const podSchema = kubeObject.extend({
  metadata: owned.extend({ namespace: z.string(), creationTimestamp: z.string() }),
  spec: z.looseObject({
    volumes: z
      .array(
        z.looseObject({
          projected: z
            .looseObject({
              sources: z
                .array(z.looseObject({ configMap: z.looseObject({ name: z.string() }).optional() }))
                .default([]),
            })
            .optional(),
        }),
      )
      .default([]),
  }),
  status: z
    .looseObject({ phase: z.string().optional(), containerStatuses: z.array(running).default([]) })
    .optional(),
})
type Pod = z.infer<typeof podSchema>
const podKind: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', schema: podSchema }

const replicaSetSchema = kubeObject.extend({ metadata: owned })
const replicaSetKind: Kind<z.infer<typeof replicaSetSchema>> = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  schema: replicaSetSchema,
}

/**
 * A workload that creates pods. Kind `other` is a single pod whose controller cannot be restarted or does not
 * exist.
 */
export interface Workload {
  readonly kind: 'Deployment' | 'DaemonSet' | 'StatefulSet' | 'other'
  readonly namespace: string
  readonly name: string
  /** True if the workload has hyperkube's addon label. */
  readonly builtIn: boolean
}

/** Finds workloads with pods that may have read the trusted CAs before their namespace got the new CA. */
export async function findStaleWorkloads(
  api: KubeClient,
  since: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<readonly Workload[]> {
  const { items } = await listObjects(api, podKind, { signal })
  const stale = items.filter((pod) => isStale(pod, since.get(pod.metadata.namespace) ?? 0))
  // Pods are grouped by owner, so that each owner is read only once.
  const podsByOwner = Map.groupBy(stale, (pod) =>
    JSON.stringify([pod.metadata.namespace, findOwner(pod) ?? pod]),
  )
  const found = await mapWithConcurrency(8, [...podsByOwner.values()], async (pods) =>
    Promise.all(pods.slice(0, 1).map(async (pod) => readWorkload(api, pod, signal))),
  )
  return [...new Map(found.flat().map((one) => [`${one.kind} ${formatWorkloadName(one)}`, one])).values()]
}

function findOwner({ metadata: { ownerReferences } }: OwnedObject): OwnerReference | undefined {
  return ownerReferences.find(({ controller }) => controller === true)
}

function isStale({ metadata: own, spec, status }: Pod, since: number): boolean {
  const usesRootCa = spec.volumes.some(({ projected }) =>
    projected?.sources.some(({ configMap }) => configMap?.name === rootCaName),
  )
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (!usesRootCa || isOver || own.deletionTimestamp !== undefined) return false
  if (Date.parse(own.creationTimestamp) > since) return false
  const starts = (status?.containerStatuses ?? []).map(({ state }) => state?.running?.startedAt)
  return starts.some((start) => start === undefined || Date.parse(start) < since + volumeRefreshMs)
}

async function readWorkload(api: KubeClient, pod: Pod, signal: AbortSignal): Promise<Workload> {
  const { namespace, name } = pod.metadata
  const other: Workload = { kind: 'other', namespace, name, builtIn: false }
  let podOwner = findOwner(pod)
  if (podOwner?.kind === 'ReplicaSet') {
    const set = await findObject(api, replicaSetKind, { namespace, name: podOwner.name }, { signal })
    podOwner = set === undefined ? undefined : findOwner(set)
  }
  const kind = restartable.find((one) => one === podOwner?.kind)
  if (podOwner?.apiVersion !== 'apps/v1' || kind === undefined) return other
  const found = await findObject(
    api,
    createUntypedKind('apps/v1', kind),
    { namespace, name: podOwner.name },
    { signal },
  )
  return { kind, namespace, name: podOwner.name, builtIn: found?.metadata.labels?.[addonLabel] !== undefined }
}

const restartable = ['Deployment', 'DaemonSet', 'StatefulSet'] as const

/** Formats the name of a workload as NAMESPACE/NAME. */
export function formatWorkloadName({ namespace, name }: Workload): string {
  return `${namespace}/${name}`
}
