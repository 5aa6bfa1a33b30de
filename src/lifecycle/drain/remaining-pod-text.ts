import { duration } from '../../kit/duration.ts'
import { keyOf } from '../../kube/object-store.ts'
import { type Budget, budgetsOf, standing, whyNever } from './disruption-budget.ts'
import type { Hold } from './evictions.ts'
import { nameOf } from './pod.ts'

/** What keeps pods on their node, each in a line: first those that may not go, then those that are on their way. */
export function holdTexts(holds: readonly Hold[], budgets: readonly Budget[], now: number): string[] {
  const refused = holds.filter(({ refusal }) => refusal !== undefined)
  const ending = holds.filter(({ refusal }) => refusal === undefined)
  return [...refused, ...ending].map((hold) => holdText(hold, budgets, now))
}

function holdText({ pod, since, refusal }: Hold, budgets: readonly Budget[], now: number): string {
  const [name, time] = [nameOf(pod), duration(Math.max(0, now - since))]
  if (refusal === undefined) return `${name} is ending, for ${time} now`
  const own = budgetsOf(pod, budgets)
  const isCounted = refusal.byBudget || own.length > 1
  const why = isCounted ? whyHeld(own) : undefined
  return `${name}, asked to go for ${time} now: ${why ?? refusal.said}`
}

/** Why these budgets keep a pod; undefined where there are none. */
function whyHeld(budgets: readonly Budget[]): string | undefined {
  const [budget] = budgets
  if (budget === undefined) return undefined
  if (budgets.length > 1) return countedTwice(budgets)
  const [name, never] = [keyOf(budget.metadata), whyNever(budget)]
  return never === undefined
    ? `budget ${name} does not let it go yet: ${standing(budget)}`
    : `budget ${name} never lets it go: ${never}; ${standing(budget)}`
}

/** The API then does not know which one to ask. */
export function countedTwice(budgets: readonly Budget[]): string {
  const names = budgets.map(({ metadata }) => keyOf(metadata))
  return `budgets ${names.join(' and ')} both count it, and the API evicts no such pod`
}
