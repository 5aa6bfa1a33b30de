import { z } from 'zod'
import type { KubeClient } from '../kube/client.ts'
import { type Kind, kubeObject, type KubeObject } from '../kube/object.ts'
import { listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'

const container = z.looseObject({
  state: z
    .looseObject({
      waiting: z.looseObject({ reason: z.string().optional(), message: z.string().optional() }).optional(),
    })
    .optional(),
})

const pod = kubeObject.extend({
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() }))
        .default([]),
      initContainerStatuses: z.array(container).default([]),
      containerStatuses: z.array(container).default([]),
    })
    .optional(),
})
type Pod = z.infer<typeof pod>
const podKind: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', schema: pod }

const workload = z.looseObject({
  metadata: z.looseObject({ namespace: z.string() }),
  spec: z.looseObject({ selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }) }),
})

/** Reasons that are normal while a pod starts. They are reported only if there is no other reason. */
const normalReasons = new Set(['ContainerCreating', 'PodInitializing'])

/**
 * Explains why the pods of a workload do not run, from the first pod with a problem. Returns undefined for
 * objects without pods.
 */
export async function explainPodProblem(
  client: KubeClient,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<string | undefined> {
  const parsed = workload.safeParse(object)
  if (!parsed.success) return undefined
  const { metadata, spec } = parsed.data
  const labels = Object.entries(spec.selector.matchLabels).map(([key, value]) => `${key}=${value}`)
  if (labels.length === 0) return undefined
  const pods = await listObjects(client, podKind, {
    namespace: metadata.namespace,
    labels: labels.join(','),
    ...options,
  })
  const problems = pods.items.flatMap((one) => {
    const problem = findPodProblem(one)
    return problem === undefined ? [] : [{ name: one.metadata.name, ...problem }]
  })
  const worst = problems.find(({ reason }) => !normalReasons.has(reason)) ?? problems[0]
  if (worst === undefined) return pods.items.length === 0 ? 'it has no pods' : undefined
  return `pod ${worst.name}: ${[worst.reason, worst.message].filter((part) => part !== '').join(': ')}`
}

function findPodProblem({ status }: Pod): { readonly reason: string; readonly message: string } | undefined {
  const scheduled = status?.conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False') return { reason: 'no node for it', message: scheduled.message ?? '' }
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const all = containers.flatMap(({ state }) => (state?.waiting === undefined ? [] : [state.waiting]))
  const waiting = all.find(({ reason = '' }) => !normalReasons.has(reason)) ?? all[0]
  return waiting === undefined ? undefined : { reason: waiting.reason ?? '', message: waiting.message ?? '' }
}
