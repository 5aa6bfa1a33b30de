import { compareStages, type ComponentPlan } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { listResources } from './plan-resources.ts'
import { compareTargets, type PlanResource, type PresentResource, resourceKey } from './resource.ts'

/**
 * Lists the ops that change a host from its present resources to the plan. A resource that several components
 * share is created by the first of them and removed with the last.
 */
export function diffPlan(plan: NodePlan, present: readonly PresentResource[]): Op[] {
  const desired = listResources(plan)
  const creators = new Map(desired.toReversed().map((item) => [resourceKey(item), item]))
  const presentByKey = Map.groupBy(present, resourceKey)
  const removedItems = [...presentByKey].flatMap(([key, rows]) => (creators.has(key) ? [] : lastOwner(rows)))
  const context: DiffContext = {
    itemsByComponent: Map.groupBy(desired, ({ component }) => component),
    creators,
    presentByKey,
    removedItems: Map.groupBy(removedItems.filter(isReadAtStart), ({ component }) => component),
  }
  const changeOps = plan.components.flatMap((component) => componentOps(component, context))
  const alreadyRemoved = new Set(changeOps.filter(({ action }) => action === 'remove').map(resourceKey))
  const remaining = removedItems.filter((item) => !alreadyRemoved.has(resourceKey(item)))
  return [...changeOps, ...listRemovalOps(plan, remaining)]
}

interface DiffContext {
  /** Planned resources by component. */
  readonly itemsByComponent: ReadonlyMap<string, readonly PlanResource[]>
  /** For each resource key, the entry of the first component that has the resource in the plan. */
  readonly creators: ReadonlyMap<string, PlanResource>
  readonly presentByKey: ReadonlyMap<string, readonly PresentResource[]>
  /**
   * Files to remove that a service reads at start, by component. They are removed before the service
   * restarts.
   */
  readonly removedItems: ReadonlyMap<string, readonly PresentResource[]>
}

function componentOps(
  { name }: ComponentPlan,
  { itemsByComponent, creators, presentByKey, removedItems }: DiffContext,
): Op[] {
  const changes = (itemsByComponent.get(name) ?? []).flatMap((item) => {
    const creator = creators.get(resourceKey(item)) ?? item
    const action = actionFor(creator, presentByKey.get(resourceKey(item)))
    return action === undefined ? [] : [{ item, maker: creator, action }]
  })
  const ops = changes
    .filter(({ item, maker: creator }) => item === creator)
    .map(({ item, action }) => opFor(item, action))
  const unit = itemsByComponent.get(name)?.find(({ target }) => target === 'service')
  if (unit === undefined) return ops
  const removed = removedItems.get(name) ?? []
  const because = [...changes.map(({ item }) => item).filter(({ restart }) => restart), ...removed]
  return [
    ...ops,
    ...removed.map((item) => opFor(item, 'remove')),
    ...startFor(unit, presentByKey.get(resourceKey(unit)), because),
  ]
}

function startFor(
  unit: PlanResource,
  rows: readonly PresentResource[] | undefined,
  because: readonly PlanResource[],
): Op[] {
  if (rows === undefined) return [opFor(unit, 'start')]
  const states = rows.flatMap(({ service }) => service ?? [])
  // A service also restarts for its pending changes: an interrupted run may have changed a file without
  // restarting the service that reads it.
  const names = new Set([
    ...because.map(({ name }) => name),
    ...states.flatMap(({ pendingChanges }) => pendingChanges),
  ])
  if (names.size > 0) return [opFor(unit, 'restart', [...names])]
  return states.some(({ running }) => !running) ? [opFor(unit, 'start')] : []
}

function actionFor(
  { digest }: PlanResource,
  rows: readonly PresentResource[] | undefined,
): 'create' | 'change' | undefined {
  if (rows === undefined) return 'create'
  return rows.every((row) => row.digest === digest) ? undefined : 'change'
}

function isReadAtStart({ target, restart }: PlanResource): boolean {
  return target === 'file' && restart
}

/**
 * Returns the owner with the latest stage. The resource is removed in that stage, because its owners may use
 * it until then.
 */
function lastOwner(rows: readonly PresentResource[]): PresentResource[] {
  const order = (a: PresentResource, b: PresentResource): number =>
    compareStages(a.stage, b.stage) || (a.component < b.component ? -1 : 1)
  return rows.toSorted(order).slice(-1)
}

function opFor(
  { component, stage, target, name }: PlanResource,
  action: Op['action'],
  because: string[] = [],
): Op {
  return { component, stage, action, target, name, because }
}

/**
 * Lists removals in reverse order of creation: a service before its files, a directory after its content.
 * Removals come after the last service start, so that the previous version of a program stays while it is in
 * use.
 */
function listRemovalOps(plan: NodePlan, removed: readonly PresentResource[]): Op[] {
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
