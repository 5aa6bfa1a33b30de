import { z } from 'zod'
import { addonLabel } from '../../addons/addon.ts'
import { mapAtMost } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kindOf, kubeObject, metadata } from '../../kube/object.ts'
import { find, list } from '../../kube/read-objects.ts'
import { rootName } from './pod-trust.ts'

/** How long a kubelet may take to renew the volumes of a pod that runs. */
const refresh = 180_000

const owner = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  controller: z.boolean().optional(),
})
type Maker = z.infer<typeof owner>
const owned = metadata.extend({ ownerReferences: z.array(owner).default([]) })
interface Owned {
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

/** What makes pods, or a pod that nobody makes. */
export interface Workload {
  readonly kind: 'Deployment' | 'DaemonSet' | 'StatefulSet' | 'other'
  readonly namespace: string
  readonly name: string
  /** Whether it is part of an addon that came with the cluster. */
  readonly ours: boolean
}

/** Those with pods that may have read whom to trust before a namespace was told of the new authority. */
export async function workloadsBefore(
  api: KubeClient,
  since: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<readonly Workload[]> {
  const { items } = await list(api, podKind, { signal })
  const before = items.filter((pod) => isBefore(pod, since.get(pod.metadata.namespace) ?? 0))
  // Many pods have one maker, who is asked about once.
  const makers = Map.groupBy(before, (pod) => JSON.stringify([pod.metadata.namespace, makerOf(pod) ?? pod]))
  const found = await mapAtMost(8, [...makers.values()], async (pods) =>
    Promise.all(pods.slice(0, 1).map(async (pod) => workloadOf(api, pod, signal))),
  )
  return [...new Map(found.flat().map((one) => [`${one.kind} ${nameOf(one)}`, one])).values()]
}

function makerOf({ metadata: { ownerReferences } }: Owned): Maker | undefined {
  return ownerReferences.find(({ controller }) => controller === true)
}

function isBefore({ metadata: own, spec, status }: Pod, since: number): boolean {
  const reads = spec.volumes.some(({ projected }) =>
    projected?.sources.some(({ configMap }) => configMap?.name === rootName),
  )
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (!reads || isOver || own.deletionTimestamp !== undefined) return false
  if (Date.parse(own.creationTimestamp) > since) return false
  const starts = (status?.containerStatuses ?? []).map(({ state }) => state?.running?.startedAt)
  return starts.some((start) => start === undefined || Date.parse(start) < since + refresh)
}

async function workloadOf(api: KubeClient, pod: Pod, signal: AbortSignal): Promise<Workload> {
  const { namespace, name } = pod.metadata
  const other: Workload = { kind: 'other', namespace, name, ours: false }
  let maker = makerOf(pod)
  if (maker?.kind === 'ReplicaSet') {
    const set = await find(api, replicaSetKind, { namespace, name: maker.name }, { signal })
    maker = set === undefined ? undefined : makerOf(set)
  }
  const kind = restartable.find((one) => one === maker?.kind)
  if (maker?.apiVersion !== 'apps/v1' || kind === undefined) return other
  const found = await find(api, kindOf('apps/v1', kind), { namespace, name: maker.name }, { signal })
  return { kind, namespace, name: maker.name, ours: found?.metadata.labels?.[addonLabel] !== undefined }
}

const restartable = ['Deployment', 'DaemonSet', 'StatefulSet'] as const

/** For people: default/web. */
export function nameOf({ namespace, name }: Workload): string {
  return `${namespace}/${name}`
}
