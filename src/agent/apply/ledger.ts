import type { Ledger, LedgerThing } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import { compareStages, type Stage } from '../../contract/stage.ts'
import { type Item, thingOf } from '../../diff/resource.ts'

export function emptyLedger(cluster: Ledger['cluster']): Ledger {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Ledger', cluster, things: [], left: [] }
}

type Named = Pick<Item, 'target' | 'name'>

export function findThing({ things }: Ledger, named: Named): LedgerThing | undefined {
  const wanted = thingOf(named)
  return things.find((thing) => thingOf(thing) === wanted)
}

/** In the place of what was written down of the same thing before. */
export function withThing(ledger: Ledger, thing: LedgerThing): Ledger {
  const at = ledger.things.findIndex((one) => thingOf(one) === thingOf(thing))
  const things = at === -1 ? [...ledger.things, thing] : ledger.things.with(at, thing)
  const left = ledger.left.filter((path) => path !== thing.name)
  return { ...ledger, things, left }
}

export function withoutThing(ledger: Ledger, named: Named, left: readonly string[] = []): Ledger {
  const gone = thingOf(named)
  return {
    ...ledger,
    things: ledger.things.filter((thing) => thingOf(thing) !== gone),
    left: [...new Set([...ledger.left, ...left])],
  }
}

/** The services of some components have not seen yet what becomes of a thing. The same ledger when they knew. */
export function withUnseen(ledger: Ledger, components: ReadonlySet<string>, name: string): Ledger {
  const blind = ledger.things.filter(
    (thing) =>
      thing.target === 'service' &&
      thing.of.some(({ component }) => components.has(component)) &&
      !thing.unseen.includes(name),
  )
  if (blind.length === 0) return ledger
  const things = ledger.things.map((thing) =>
    thing.target === 'service' && blind.includes(thing)
      ? { ...thing, unseen: [...thing.unseen, name] }
      : thing,
  )
  return { ...ledger, things }
}

/** A service that runs has seen a thing as it is again now. */
export function withSeen(ledger: Ledger, service: string, name: string): Ledger {
  const things = ledger.things.map((thing) =>
    thing.target === 'service' && thing.name === service
      ? { ...thing, unseen: thing.unseen.filter((one) => one !== name) }
      : thing,
  )
  return { ...ledger, things }
}

/** A service runs, and has seen all there is. */
export function withStarted(ledger: Ledger, name: string): Ledger {
  const things = ledger.things.map((thing) =>
    thing.target === 'service' && thing.name === name ? { ...thing, started: true, unseen: [] } : thing,
  )
  return { ...ledger, things }
}

export function withStopped(ledger: Ledger, name: string): Ledger {
  const things = ledger.things.map((thing) =>
    thing.target === 'service' && thing.name === name ? { ...thing, started: false } : thing,
  )
  return { ...ledger, things }
}

/** The components whose services restart for an op, as the diff has it: of what goes, only files are read at a start. */
export function restartedFor(ledger: Ledger, planned: readonly Item[], op: Op): ReadonlySet<string> {
  if (op.action === 'remove') {
    const owners = op.target === 'file' ? (findThing(ledger, op)?.of ?? []) : []
    const isRead = owners.some(({ component, restart }) => restart && component === op.component)
    return new Set(isRead ? [op.component] : [])
  }
  const wanted = thingOf(op)
  const readers = planned.filter((item) => item.restart && thingOf(item) === wanted)
  return new Set(readers.map(({ component }) => component))
}

/**
 * The components that have a thing once a plan is applied up to a stage. Those of later stages keep what they had until
 * their turn comes.
 */
export function ownersOf(
  planned: readonly Item[],
  former: LedgerThing['of'],
  through: Stage,
): LedgerThing['of'] {
  const reached = ({ stage }: { readonly stage: Stage }): boolean => compareStages(stage, through) <= 0
  const now = planned.filter(reached).map(({ component, stage, restart }) => ({ component, stage, restart }))
  const later = former.filter(
    (owner) => !reached(owner) && !now.some(({ component }) => component === owner.component),
  )
  const owners = [...now, ...later]
  return owners.length === 0 ? former : owners
}

/** What several components share is written down for those that have it now, and for no others. */
export function settled(ledger: Ledger, items: readonly Item[], through: Stage): Ledger {
  const planned = Map.groupBy(items, thingOf)
  const things = ledger.things.map((thing) => {
    const wanted = planned.get(thingOf(thing))
    return wanted === undefined ? thing : { ...thing, of: ownersOf(wanted, thing.of, through) }
  })
  return { ...ledger, things }
}
