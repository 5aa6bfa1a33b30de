import { z } from 'zod'
import { addonLabel } from '../../addons/addon.ts'
import { findUnreadyReason } from '../../addons/readiness.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind, type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { patchObject } from '../../kube/write-objects.ts'
import { rootCaName } from './pod-trust.ts'
import { pollRotation, type RotationWaitOptions } from './poll.ts'

/** Maximum time in milliseconds until a kubelet has updated the volumes of a running pod. */
export const volumeRefreshMs = 180_000

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
  /** True if no container of its stale pods runs, for example because its image is missing. */
  readonly idle: boolean
}

/** When the credentials in the volumes of pods changed. */
export interface CredentialsChange {
  /** Returns the time of the change in a namespace. */
  readonly since: (namespace: string) => number
  /** Milliseconds until the volumes of all running pods have the change. */
  readonly refreshMs: number
}

/** Finds workloads with pods that may have read their credentials for the API before these changed. */
export async function findStaleWorkloads(
  api: KubeClient,
  change: CredentialsChange,
  { now, signal }: Pick<RotationWaitOptions, 'now' | 'signal'>,
): Promise<readonly Workload[]> {
  const { items } = await listObjects(api, podKind, { signal })
  const stale = items.filter((pod) => isStale(pod, change, now().getTime()))
  // Pods are grouped by owner, so that each owner is read only once.
  const podsByOwner = Map.groupBy(stale, (pod) =>
    JSON.stringify([pod.metadata.namespace, findOwner(pod) ?? pod]),
  )
  const found = await mapWithConcurrency(8, [...podsByOwner.values()], async (pods) =>
    Promise.all(
      pods.slice(0, 1).map(async (pod) => ({
        ...(await readWorkload(api, pod, signal)),
        idle: pods.every((one) => readStarts(one).every((start) => start === undefined)),
      })),
    ),
  )
  return [...new Map(found.flat().map((one) => [`${one.kind} ${formatWorkloadName(one)}`, one])).values()]
}

function findOwner({ metadata: { ownerReferences } }: OwnedObject): OwnerReference | undefined {
  return ownerReferences.find(({ controller }) => controller === true)
}

/** Start times of the containers of a pod; undefined for a container that does not run. */
function readStarts({ status }: Pod): readonly (string | undefined)[] {
  return (status?.containerStatuses ?? []).map(({ state }) => state?.running?.startedAt)
}

function isStale(pod: Pod, change: CredentialsChange, now: number): boolean {
  const { metadata: own, spec, status } = pod
  const usesRootCa = spec.volumes.some(({ projected }) =>
    projected?.sources.some(({ configMap }) => configMap?.name === rootCaName),
  )
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (!usesRootCa || isOver || own.deletionTimestamp !== undefined) return false
  if (Date.parse(own.creationTimestamp) > change.since(own.namespace)) return false
  const refreshed = change.since(own.namespace) + change.refreshMs
  // A container that does not run reads its volumes when it starts. Until they are refreshed, it may read old ones.
  return readStarts(pod).some((start) => (start === undefined ? now : Date.parse(start)) < refreshed)
}

async function readWorkload(api: KubeClient, pod: Pod, signal: AbortSignal): Promise<Omit<Workload, 'idle'>> {
  const { namespace, name } = pod.metadata
  const other: Omit<Workload, 'idle'> = { kind: 'other', namespace, name, builtIn: false }
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

/**
 * Annotation that `kubectl rollout restart` sets on the pod template. The changed template makes the
 * controller replace all pods.
 */
const annotation = 'kubectl.kubernetes.io/restartedAt'
/**
 * Milliseconds to wait until all workloads are restarted. This includes no time to pull images, because the
 * nodes already have them.
 */
const restartTimeoutMs = 600_000

/**
 * Restarts workloads and waits until all of them are ready. A workload that did not run before is not waited for once
 * its volumes are refreshed: its pods cannot have the previous credentials, and it may never become ready.
 */
export async function restartWorkloads(
  api: KubeClient,
  workloads: readonly Workload[],
  { since, refreshMs }: CredentialsChange,
  wait: RotationWaitOptions,
): Promise<void> {
  const { now, signal } = wait
  const annotations = { [annotation]: now().toISOString() }
  const patch = { spec: { template: { metadata: { annotations } } } }
  await mapWithConcurrency(8, workloads, async ({ kind, namespace, name }) =>
    patchObject(api, createUntypedKind('apps/v1', kind), { namespace, name }, patch, { signal }),
  )
  await pollRotation(
    wait,
    restartTimeoutMs,
    async () => {
      for (const workload of workloads) {
        const { kind, namespace, name, idle } = workload
        if (idle && now().getTime() >= since(namespace) + refreshMs) continue
        const found = await findObject(
          api,
          createUntypedKind('apps/v1', kind),
          { namespace, name },
          { signal },
        )
        const reason = found === undefined ? undefined : findUnreadyReason(found)
        if (reason !== undefined) return `${formatWorkloadName(workload)}: ${reason}`
      }
      return undefined
    },
    (reason) =>
      new HyperkubeError('KEYS_PODS_NOT_READY', `waited ten minutes for restarted pods: ${reason}`, {
        hint: 'find the cause with kubectl describe; then run the same command again',
      }),
  )
}
