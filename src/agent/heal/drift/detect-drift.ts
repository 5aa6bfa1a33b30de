import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { Drift } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op, OpTarget } from '../../../contract/op.ts'
import { type Item, thingOf } from '../../../diff/resource.ts'
import { items } from '../../../diff/plan-resources.ts'
import { ledgerFor } from '../../apply/diff-host.ts'
import { type Found, inspectAll } from '../../apply/inspect.ts'
import type { State } from '../../apply/resource-handler.ts'
import type { Host } from '../../host/host.ts'
import { isPremature } from './premature.ts'

/** What is not as it was put there, by component. */
export interface DriftFound {
  /** What can be made as it was with what the host has, or can fetch; nothing that runs is disturbed by it. */
  readonly putBack: ReadonlyMap<string, readonly Op[]>
  /** What only an operator can bring. */
  readonly beyond: ReadonlyMap<string, readonly Drift[]>
  /** Those whose services somebody has stopped through us: who wants them to run says so with a plan. */
  readonly stopped: ReadonlySet<string>
}

/** An image is the runtime's to bring, and a certificate somebody else's. */
const looked: ReadonlySet<OpTarget> = new Set([
  'user',
  'module',
  'sysctl',
  'directory',
  'artifact',
  'file',
  'certificate',
  'derived-file',
  'service',
])

/**
 * Looks at what was put on the host and is as the plan says; changes nothing. What a run that was cut has left half done is
 * not looked at: an operator goes on with it, and must not be worked against.
 */
export async function lookAtDrift(host: Host, plan: NodePlan): Promise<DriftFound> {
  const ledger = await ledgerFor(host, plan)
  const things = ledger.things.filter(({ target }) => looked.has(target))
  const found = await inspectAll({ host, ledger: { ...ledger, things }, plan })
  const makers = new Map(
    items(plan)
      .toReversed()
      .map((item) => [thingOf(item), item]),
  )
  const [ops, drifts]: [Op[], (Drift & { component: string })[]] = [[], []]
  for (const one of found) {
    const item = makers.get(thingOf(one.thing))
    if (item?.digest !== one.thing.digest || item.target !== one.thing.target) continue
    const what = whatIsWrong(one)
    if (what === undefined || (await isPremature(host, one.thing))) continue
    const { component, target, name } = item
    if (canBePutBack(plan, item)) ops.push(opFor(item, one.state, what))
    else drifts.push({ component, target, name, what })
  }
  return {
    putBack: Map.groupBy(inOrder(ops, [...makers.values()]), ({ component }) => component),
    beyond: new Map(
      [...Map.groupBy(drifts, ({ component }) => component)].map(([component, all]) => [
        component,
        all.map(({ target, name, what }) => ({ target, name, what })),
      ]),
    ),
    stopped: new Set(
      things.flatMap((thing) =>
        thing.target === 'service' && !thing.started ? thing.of.map(({ component }) => component) : [],
      ),
    ),
  }
}

/** A certificate whose time has come has not been changed by anybody. */
function whatIsWrong({ thing, state, unit }: Found): string | undefined {
  if (state === 'absent') return 'it is gone'
  if (state !== 'as-written') return state.due === true ? undefined : state.drift
  const forgotten = thing.target === 'service' && thing.started && unit?.enabled === false
  return forgotten ? 'it would not start at the next boot' : undefined
}

function canBePutBack({ components }: NodePlan, { component, target, name }: Item): boolean {
  if (target === 'certificate') return false
  if (target !== 'file') return true
  // What matters at a birth alone says how it was then: whoever takes it away means to have another one.
  const isIt = ({ path, content, once }: ComponentPlan['files'][number]): boolean =>
    path === name && content.kind === 'text' && once === undefined
  return components.some((one) => one.name === component && one.files.some(isIt))
}

function opFor({ component, stage, target, name }: Item, state: State, what: string): Op {
  return {
    component,
    stage,
    action: state === 'absent' ? 'create' : 'change',
    target,
    name,
    because: [what],
  }
}

/** As things come into being: a directory before what is in it. */
function inOrder(ops: readonly Op[], all: readonly Item[]): Op[] {
  const order = new Map(all.toReversed().map((item, index) => [thingOf(item), index]))
  return ops.toSorted((a, b) => (order.get(thingOf(a)) ?? 0) - (order.get(thingOf(b)) ?? 0))
}
