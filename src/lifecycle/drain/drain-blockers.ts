import { settleAll } from '../../kit/concurrency.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { KubeClient } from '../../kube/client.ts'
import { formatObjectKey } from '../../kube/object-store.ts'
import { findObject } from '../../kube/read-objects.ts'
import { explainNotReady, nodeKind } from '../cluster-objects/node.ts'
import {
  type DisruptionBudget,
  explainImpossible,
  findBudgets,
  formatBudgetStatus,
  listBudgets,
} from './disruption-budget.ts'
import type { RemainingPod } from './evictions.ts'
import { formatPodName } from './pod.ts'

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

/** Explains why pods are still on a node. Reads their disruption budgets and the state of the node. */
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
    texts: isStuck
      ? [`${node} is not ready, so its pods cannot terminate: ${notReadyReason}`, ...texts]
      : texts,
    hint: isStuck ? `find out why ${node} is not ready: hyperkube doctor` : hintFor(refused, remainingPods),
  }
}

function hintFor(refused: readonly RemainingPod[], remainingPods: readonly RemainingPod[]): string {
  const { namespace, name } = (refused[0] ?? remainingPods[0])?.pod.metadata ?? {}
  if (namespace === undefined) return 'check the cluster: hyperkube status'
  return refused[0]?.refusal?.byBudget === true
    ? `add replicas or relax the PodDisruptionBudget: kubectl -n ${namespace} get poddisruptionbudgets; then run the same command again`
    : `find the cause: kubectl -n ${namespace} describe pod ${name}; then run the same command again`
}

/**
 * Formats one line for each pod that blocks a drain. Pods whose eviction was refused come first, then
 * terminating pods.
 */
function formatRemainingPods(
  remainingPods: readonly RemainingPod[],
  budgets: readonly DisruptionBudget[],
  now: number,
): string[] {
  const refused = remainingPods.filter(({ refusal }) => refusal !== undefined)
  const ending = remainingPods.filter(({ refusal }) => refusal === undefined)
  return [...refused, ...ending].map((remainingPod) => formatRemainingPod(remainingPod, budgets, now))
}

function formatRemainingPod(
  { pod, since, refusal }: RemainingPod,
  budgets: readonly DisruptionBudget[],
  now: number,
): string {
  const [name, time] = [formatPodName(pod), formatDuration(Math.max(0, now - since))]
  if (refusal === undefined) return `${name} has been terminating for ${time}`
  const own = findBudgets(pod, budgets)
  const isCounted = refusal.byBudget || own.length > 1
  const reason = isCounted ? explainBudgets(own) : undefined
  return `${name}, eviction requested ${time} ago: ${reason ?? refusal.message}`
}

/** Explains how these budgets block a pod; undefined if no budget is given. */
function explainBudgets(budgets: readonly DisruptionBudget[]): string | undefined {
  const [budget] = budgets
  if (budget === undefined) return undefined
  if (budgets.length > 1) return formatOverlappingBudgets(budgets)
  const [name, impossible] = [formatObjectKey(budget.metadata), explainImpossible(budget)]
  return impossible === undefined
    ? `PodDisruptionBudget ${name} does not allow the eviction now: ${formatBudgetStatus(budget)}`
    : `PodDisruptionBudget ${name} never allows the eviction: ${impossible}; ${formatBudgetStatus(budget)}`
}

/** Explains that the API never evicts a pod that several budgets select. */
export function formatOverlappingBudgets(budgets: readonly DisruptionBudget[]): string {
  const names = budgets.map(({ metadata }) => formatObjectKey(metadata))
  return `PodDisruptionBudgets ${names.join(' and ')} select the pod, and the API evicts no pod that several of them select`
}
