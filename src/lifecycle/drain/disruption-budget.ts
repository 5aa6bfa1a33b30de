import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { labelSelector, matchesSelector } from '../../kube/label-selector.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { listObjects, type ListOptions } from '../../kube/read-objects.ts'
import { isTerminating, isPodReady, type Pod } from './pod.ts'

/** An absolute number of pods (2) or a percentage ("50%"). */
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
export type DisruptionBudget = z.infer<typeof schema>

const budgetKind: Kind<DisruptionBudget> = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', schema }

export async function listBudgets(
  api: KubeClient,
  options: ListOptions,
): Promise<readonly DisruptionBudget[]> {
  return (await listObjects(api, budgetKind, options)).items
}

/** Finds the budgets that the API checks before it evicts a pod. */
export function findBudgets(pod: Pod, budgets: readonly DisruptionBudget[]): DisruptionBudget[] {
  if (isTerminating(pod) || pod.status?.phase === 'Pending') return []
  const { namespace, labels } = pod.metadata
  return budgets.filter(
    ({ metadata: own, spec }) =>
      own.namespace === namespace &&
      matchesSelector(spec.selector, labels) &&
      (isPodReady(pod) || spec.unhealthyPodEvictionPolicy !== 'AlwaysAllow'),
  )
}

/**
 * Explains why a budget never allows an eviction, even if all of its pods are healthy. Returns undefined if
 * evictions are possible.
 */
export function explainImpossible({
  metadata: { generation = 0 },
  spec,
  status,
}: DisruptionBudget): string | undefined {
  const { minAvailable, maxUnavailable } = spec
  if (maxUnavailable === 0 || maxUnavailable === '0%') {
    return `it allows no disruption (maxUnavailable: ${maxUnavailable})`
  }
  // A status of an older generation was computed for an older spec, so it explains nothing about the current
  // spec.
  if (status === undefined || status.observedGeneration < generation || status.expectedPods === 0) {
    return undefined
  }
  const { desiredHealthy, expectedPods } = status
  return desiredHealthy >= expectedPods
    ? `it requires ${desiredHealthy} healthy pods and selects ${expectedPods} (minAvailable: ${minAvailable})`
    : undefined
}

/** Formats the counts in the status of a budget. */
export function formatBudgetStatus({ status }: DisruptionBudget): string {
  if (status === undefined) return 'it has no status yet'
  const { disruptionsAllowed, currentHealthy, expectedPods, desiredHealthy } = status
  return `allowed disruptions ${disruptionsAllowed}, healthy ${currentHealthy} of ${expectedPods}, needed ${desiredHealthy}`
}
