import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { findObject } from '../../kube/read-objects.ts'
import { nodeKind } from '../cluster-objects/node.ts'
import { explainNotReady } from '../cluster-objects/node-readiness.ts'
import { type DisruptionBudget, listBudgets } from './disruption-budget.ts'
import type { RemainingPod } from './evictions.ts'
import { formatRemainingPods } from './remaining-pod-text.ts'

/** Reasons why pods are still on a node, as text, and a hint for the operator. */
export interface DrainBlockers {
  readonly texts: readonly string[]
  readonly hint: string
}

interface BlockerOptions {
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly timeout: number
}

/** Explains why pods remain, by their budgets and the state of the node. */
export async function findDrainBlockers(
  api: KubeClient,
  node: string,
  remainingPods: readonly RemainingPod[],
  { now, ...options }: BlockerOptions,
): Promise<DrainBlockers> {
  const refused = remainingPods.filter(({ refusal }) => refusal !== undefined)
  const namespaces = [...new Set(refused.map(({ pod }) => pod.metadata.namespace))]
  // A failed request for budgets must not hide the original problem.
  const budgets = await settleAll(
    namespaces.map(async (namespace) => listBudgets(api, { namespace, ...options })),
  ).then(
    (all) => all.flat(),
    (): DisruptionBudget[] => [],
  )
  const notReadyReason = await findObject(api, nodeKind, { name: node }, options).then(
    explainNotReady,
    () => undefined,
  )
  const isStuck = notReadyReason !== undefined && refused.length < remainingPods.length
  const texts = formatRemainingPods(remainingPods, budgets, now().getTime())
  return {
    texts: isStuck ? [`${node} is not ready, and nothing ends on it: ${notReadyReason}`, ...texts] : texts,
    hint: isStuck ? `bring ${node} back` : hintFor(refused, remainingPods),
  }
}

function hintFor(refused: readonly RemainingPod[], remainingPods: readonly RemainingPod[]): string {
  const { namespace, name } = (refused[0] ?? remainingPods[0])?.pod.metadata ?? {}
  if (namespace === undefined) return 'hyperkube status says how the cluster is'
  return refused[0]?.refusal?.byBudget === true
    ? `more replicas, or a budget that allows more: kubectl -n ${namespace} get poddisruptionbudgets; then the same command again`
    : `kubectl -n ${namespace} describe pod ${name} says more; then the same command again`
}
