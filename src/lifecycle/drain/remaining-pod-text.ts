import { formatDuration } from '../../kit/duration.ts'
import { formatObjectKey } from '../../kube/object-store.ts'
import {
  type DisruptionBudget,
  findBudgets,
  formatBudgetStatus,
  explainImpossible,
} from './disruption-budget.ts'
import type { RemainingPod } from './evictions.ts'
import { formatPodName } from './pod.ts'

/** Formats one line for each pod that blocks a drain. Refused pods come first, then terminating ones. */
export function formatRemainingPods(
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
  if (refusal === undefined) return `${name} is ending, for ${time} now`
  const own = findBudgets(pod, budgets)
  const isCounted = refusal.byBudget || own.length > 1
  const reason = isCounted ? explainBudgets(own) : undefined
  return `${name}, asked to go for ${time} now: ${reason ?? refusal.message}`
}

/** Explains how these budgets block a pod; undefined if no budget is given. */
function explainBudgets(budgets: readonly DisruptionBudget[]): string | undefined {
  const [budget] = budgets
  if (budget === undefined) return undefined
  if (budgets.length > 1) return formatOverlappingBudgets(budgets)
  const [name, impossible] = [formatObjectKey(budget.metadata), explainImpossible(budget)]
  return impossible === undefined
    ? `budget ${name} does not let it go yet: ${formatBudgetStatus(budget)}`
    : `budget ${name} never lets it go: ${impossible}; ${formatBudgetStatus(budget)}`
}

/** Explains that several budgets select the same pod, because the API never evicts such a pod. */
export function formatOverlappingBudgets(budgets: readonly DisruptionBudget[]): string {
  const names = budgets.map(({ metadata }) => formatObjectKey(metadata))
  return `budgets ${names.join(' and ')} both count it, and the API evicts no such pod`
}
