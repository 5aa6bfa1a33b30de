import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { labelSelector, selects } from '../../kube/label-selector.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { list, type ListOptions } from '../../kube/read-objects.ts'
import { isEnding, isReady, type Pod } from './pod.ts'

/** A number of pods, or a share of them: 2, 50%. */
const amount = z.union([z.int(), z.string()]).nullish()

const schema = kubeObject.extend({
  metadata: metadata.extend({ namespace: z.string() }),
  spec: z.looseObject({
    selector: labelSelector.nullish(),
    minAvailable: amount,
    maxUnavailable: amount,
    unhealthyPodEvictionPolicy: z.string().nullish(),
  }),
  status: z
    .looseObject({
      observedGeneration: z.int().default(0),
      disruptionsAllowed: z.int().default(0),
      currentHealthy: z.int().default(0),
      desiredHealthy: z.int().default(0),
      expectedPods: z.int().default(0),
    })
    .optional(),
})
/** How many pods of some kind may be away at once: a PodDisruptionBudget. */
export type Budget = z.infer<typeof schema>

const budgetKind: Kind<Budget> = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', schema }

export async function listBudgets(api: KubeClient, options: ListOptions): Promise<readonly Budget[]> {
  return (await list(api, budgetKind, options)).items
}

/** Those that the API asks before it evicts a pod. */
export function budgetsOf(pod: Pod, budgets: readonly Budget[]): Budget[] {
  if (isEnding(pod) || pod.status?.phase === 'Pending') return []
  const { namespace, labels } = pod.metadata
  return budgets.filter(
    ({ metadata: own, spec }) =>
      own.namespace === namespace &&
      selects(spec.selector, labels) &&
      (isReady(pod) || spec.unhealthyPodEvictionPolicy !== 'AlwaysAllow'),
  )
}

/** Why a budget lets no pod go even when all of its pods are well; undefined when it does. */
export function whyNever({ metadata: { generation = 0 }, spec, status }: Budget): string | undefined {
  const { minAvailable, maxUnavailable } = spec
  if (maxUnavailable === 0 || maxUnavailable === '0%') {
    return `none of its pods may ever be away (maxUnavailable: ${maxUnavailable})`
  }
  // What was counted for an older wish says nothing of this one.
  if (status === undefined || status.observedGeneration < generation || status.expectedPods === 0) {
    return undefined
  }
  const { desiredHealthy, expectedPods } = status
  return desiredHealthy >= expectedPods
    ? `${desiredHealthy} pods must be healthy at any time, and there are ${expectedPods} (minAvailable: ${minAvailable})`
    : undefined
}

/** How it stands with a budget now. */
export function standing({ status }: Budget): string {
  if (status === undefined) return 'it has not been counted yet'
  const { disruptionsAllowed, currentHealthy, expectedPods, desiredHealthy } = status
  return `allowed disruptions ${disruptionsAllowed}, healthy ${currentHealthy} of ${expectedPods}, needed ${desiredHealthy}`
}
