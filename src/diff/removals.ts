import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { compareStages } from '../contract/stage.ts'
import { compareTargets, type PresentResource } from './resource.ts'

/**
 * Removes resources in reverse order of creation, whatever the order of the input: a service before its
 * files, a directory after its content. All removals come after the last service start, so that the previous
 * version of a program stays while it is in use.
 */
export function listRemovalOps(plan: NodePlan, removed: readonly PresentResource[]): Op[] {
  const componentIndexes = new Map(plan.components.map(({ name }, index) => [name, index]))
  const componentIndex = ({ component }: PresentResource): number =>
    componentIndexes.get(component) ?? plan.components.length
  const order = (a: PresentResource, b: PresentResource): number =>
    compareStages(b.stage, a.stage) ||
    componentIndex(b) - componentIndex(a) ||
    compareText(b.component, a.component) ||
    compareTargets(b.target, a.target) ||
    compareText(b.name, a.name)
  return removed.toSorted(order).flatMap(({ component, stage, target, name }) => {
    const actions = target === 'service' ? (['stop', 'remove'] as const) : (['remove'] as const)
    return actions.map((action): Op => ({ component, stage, action, target, name, because: [] }))
  })
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
