import type { ComponentPlan } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { compareStages } from '../contract/stage.ts'
import { type Item, type PresentItem, thingOf } from './resource.ts'
import { items } from './plan-resources.ts'
import { removals } from './removals.ts'

/**
 * What has to be done so that all of a plan is there and nothing that left it. What several components share is made
 * once, for the first of them, and goes with the last.
 */
export function diff(plan: NodePlan, present: readonly PresentItem[]): Op[] {
  const wanted = items(plan)
  const makers = new Map(wanted.toReversed().map((item) => [thingOf(item), item]))
  const there = Map.groupBy(present, thingOf)
  const leaving = [...there].flatMap(([thing, rows]) => (makers.has(thing) ? [] : lastOf(rows)))
  const scene: Scene = {
    own: Map.groupBy(wanted, ({ component }) => component),
    makers,
    there,
    leaving: Map.groupBy(leaving.filter(isReadAtStart), ({ component }) => component),
  }
  const made = plan.components.flatMap((component) => componentOps(component, scene))
  const gone = new Set(made.filter(({ action }) => action === 'remove').map(thingOf))
  const left = leaving.filter((item) => !gone.has(thingOf(item)))
  return [...made, ...removals(plan, left)]
}

interface Scene {
  /** What each component has. */
  readonly own: ReadonlyMap<string, readonly Item[]>
  /** The first one to have a thing. */
  readonly makers: ReadonlyMap<string, Item>
  readonly there: ReadonlyMap<string, readonly PresentItem[]>
  /** Files that nobody has any more, and that a restart must not see again. */
  readonly leaving: ReadonlyMap<string, readonly PresentItem[]>
}

function componentOps({ name }: ComponentPlan, { own, makers, there, leaving }: Scene): Op[] {
  const changes = (own.get(name) ?? []).flatMap((item) => {
    const maker = makers.get(thingOf(item)) ?? item
    const action = actionFor(maker, there.get(thingOf(item)))
    return action === undefined ? [] : [{ item, maker, action }]
  })
  const ops = changes
    .filter(({ item, maker }) => item === maker)
    .map(({ item, action }) => opFor(item, action))
  const unit = own.get(name)?.find(({ target }) => target === 'service')
  if (unit === undefined) return ops
  const removed = leaving.get(name) ?? []
  const because = [...changes.map(({ item }) => item).filter(({ restart }) => restart), ...removed]
  return [
    ...ops,
    ...removed.map((item) => opFor(item, 'remove')),
    ...startFor(unit, there.get(thingOf(unit)), because),
  ]
}

function startFor(unit: Item, rows: readonly PresentItem[] | undefined, because: readonly Item[]): Op[] {
  if (rows === undefined) return [opFor(unit, 'start')]
  const states = rows.flatMap(({ service }) => service ?? [])
  // A run that was cut between a change and its restart has left it unseen.
  const names = new Set([...because.map(({ name }) => name), ...states.flatMap(({ unseen }) => unseen)])
  if (names.size > 0) return [opFor(unit, 'restart', [...names])]
  return states.some(({ running }) => !running) ? [opFor(unit, 'start')] : []
}

function actionFor(
  { digest }: Item,
  rows: readonly PresentItem[] | undefined,
): 'create' | 'change' | undefined {
  if (rows === undefined) return 'create'
  return rows.every((row) => row.digest === digest) ? undefined : 'change'
}

function isReadAtStart({ target, restart }: Item): boolean {
  return target === 'file' && restart
}

/** The one that comes to it last: until then another one may still use it. */
function lastOf(rows: readonly PresentItem[]): PresentItem[] {
  const order = (a: PresentItem, b: PresentItem): number =>
    compareStages(a.stage, b.stage) || (a.component < b.component ? -1 : 1)
  return rows.toSorted(order).slice(-1)
}

function opFor({ component, stage, target, name }: Item, action: Op['action'], because: string[] = []): Op {
  return { component, stage, action, target, name, because }
}
