import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { compareStages } from '../contract/stage.ts'
import { compareTargets, type PresentItem } from './resource.ts'

/**
 * What leaves a host, against the order in which it came, whatever the order in which it is told: a service before its
 * files, a directory after what is in it. All of it comes after the last service has started, so that a former version
 * of a program stays until nobody runs it.
 */
export function removals(plan: NodePlan, leaving: readonly PresentItem[]): Op[] {
  const places = new Map(plan.components.map(({ name }, index) => [name, index]))
  const placeOf = ({ component }: PresentItem): number => places.get(component) ?? plan.components.length
  const order = (a: PresentItem, b: PresentItem): number =>
    compareStages(b.stage, a.stage) ||
    placeOf(b) - placeOf(a) ||
    compareText(b.component, a.component) ||
    compareTargets(b.target, a.target) ||
    compareText(b.name, a.name)
  return leaving.toSorted(order).flatMap(({ component, stage, target, name }) => {
    const actions = target === 'service' ? (['stop', 'remove'] as const) : (['remove'] as const)
    return actions.map((action): Op => ({ component, stage, action, target, name, because: [] }))
  })
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
