import type { NodePlan } from '../contract/node-plan.ts'
import type { Stage } from '../contract/stage.ts'
import { computeDigest } from '../diff/digest.ts'

/**
 * Builds a plan in which the components of the given stages are those of the previous plan. Other stages keep
 * their components, because other hosts may rely on them. Returns undefined if nothing would change.
 */
export function buildRollbackPlan(
  plan: NodePlan,
  previous: NodePlan,
  stages: readonly Stage[],
): NodePlan | undefined {
  const isRolledBack = ({ stage }: { readonly stage: Stage }): boolean => stages.includes(stage)
  const before = previous.components.filter(isRolledBack)
  const current = plan.components.filter(isRolledBack)
  if (before.length === 0 || computeDigest(before) === computeDigest(current)) return undefined
  const previousByName = new Map(before.map((component) => [component.name, component]))
  const components = plan.components.flatMap((component) =>
    isRolledBack(component) ? (previousByName.get(component.name) ?? []) : [component],
  )
  const presentNames = new Set(components.map(({ name }) => name))
  return { ...plan, components: [...components, ...before.filter(({ name }) => !presentNames.has(name))] }
}
