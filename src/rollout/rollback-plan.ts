import type { NodePlan } from '../contract/node-plan.ts'
import type { Stage } from '../contract/stage.ts'
import { digestOf } from '../diff/digest.ts'

/**
 * A plan in which the components of some stages are what they were before. The others stay as they are now: what has come
 * up in an earlier stage may be what others count on by now. Undefined when that would change nothing.
 */
export function goBackPlan(plan: NodePlan, former: NodePlan, stages: readonly Stage[]): NodePlan | undefined {
  const isBack = ({ stage }: { readonly stage: Stage }): boolean => stages.includes(stage)
  const before = former.components.filter(isBack)
  const now = plan.components.filter(isBack)
  if (before.length === 0 || digestOf(before) === digestOf(now)) return undefined
  const names = new Map(before.map((component) => [component.name, component]))
  const kept = plan.components.flatMap((component) =>
    isBack(component) ? (names.get(component.name) ?? []) : [component],
  )
  const known = new Set(kept.map(({ name }) => name))
  return { ...plan, components: [...kept, ...before.filter(({ name }) => !known.has(name))] }
}
