import type { LedgerThing } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Stage } from '../../contract/stage.ts'
import { type Item, thingOf } from '../../diff/resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import { isWithin } from '../host/host-path.ts'
import {
  findThing,
  ownersOf,
  restartedFor,
  withoutThing,
  withStopped,
  withThing,
  withUnseen,
} from './ledger.ts'
import type { Outcome, Run } from './run-op.ts'
import { stopService } from './start-service.ts'
import type { Head } from './resource-handler.ts'
import { targetsFor } from './handlers-by-os.ts'

/** A run that brings a plan to its host. */
export interface PlanRun<H extends Host = Host> extends Run<H> {
  readonly plan: NodePlan
  /** All that is in the plan. */
  readonly items: readonly Item[]
  readonly through: Stage
  readonly secrets: ReadonlyMap<string, Secret>
  readonly certificates: ReadonlyMap<string, string>
}

/** Does what one op says, but for starts, which are waited for together. */
export async function perform(run: PlanRun, op: Op): Promise<Outcome> {
  if (op.action === 'stop') return stop(run, op)
  const { book } = run
  // First of all: who is cut in between must not forget whom it concerns.
  await book.keep(withUnseen(book.ledger, restartedFor(book.ledger, run.items, op), op.name))
  return op.action === 'remove' ? remove(run, op) : make(run, op)
}

async function stop({ host, book, emit, signal }: PlanRun, { name, component }: Op): Promise<Outcome> {
  const stopped = await stopService(host, name, component, emit, signal)
  await book.keep(withStopped(book.ledger, name))
  return stopped ? 'done' : 'unchanged'
}

async function make(run: PlanRun, op: Op): Promise<Outcome> {
  const { host, plan, book, secrets, certificates, emit, signal } = run
  const component = plan.components.find(({ name }) => name === op.component)
  if (component === undefined) throw new Error(`the plan has no component ${op.component}`)
  const targets = targetsFor(host)
  const target = targets[op.target]
  const former = findThing(book.ledger, op)
  // At its path was another kind of thing.
  const isOther = former !== undefined && former.target !== op.target
  if (isOther) await targets[former.target].remove(former, { host, ledger: book.ledger })
  const head = headFor(run, op, former)
  const work = { host, plan, ledger: book.ledger, component, head, secrets, certificates, emit, signal }
  const known = former === undefined || isOther ? await target.foresee(work) : former
  if (known !== undefined && known !== former) await book.keep(withThing(book.ledger, known))
  const { changed, thing } = await target.make(work, known)
  const state = await target.inspect(thing, work)
  if (state !== 'as-written') throw notAsWritten(op, state === 'absent' ? 'it is gone' : state.drift)
  await book.keep(withThing(book.ledger, thing))
  return changed ? 'done' : 'unchanged'
}

/** Of what several components have, the first one decides. */
function headFor({ items, through }: PlanRun, op: Op, former: LedgerThing | undefined): Head {
  const planned = items.filter((item) => thingOf(item) === thingOf(op))
  const [maker] = planned
  if (maker === undefined) throw new Error(`the plan has no ${op.target} ${op.name}`)
  return { name: op.name, digest: maker.digest, of: ownersOf(planned, former?.of ?? [], through) }
}

function notAsWritten({ target, name, component }: Op, what: string): HyperkubeError {
  return new HyperkubeError('APPLY_NOT_VERIFIED', `${target} ${name} is not as it was just made: ${what}`, {
    component,
    hint: 'somebody else changes it too: find out who, and make them stop',
  })
}

async function remove({ host, book, emit }: PlanRun, op: Op): Promise<Outcome> {
  const thing = findThing(book.ledger, op)
  if (thing === undefined) {
    // Only what lies in our own directories is taken away without having been written down.
    if (!isWithin(op.name, host.layout.exclusive)) return 'unchanged'
    await host.files.removeTree(op.name)
    return 'done'
  }
  const scene = { host, ledger: book.ledger }
  const { changed, left, held = [] } = await targetsFor(host)[thing.target].remove(thing, scene)
  if (held.length === 0) await book.keep(withoutThing(book.ledger, op, left))
  else emit({ type: 'log', lines: held.map(stillUsed) }, op.component)
  return changed ? 'done' : 'unchanged'
}

/** For people: what could not go yet. */
export function stillUsed(path: string): string {
  return `${path} is still used by a program that runs: it goes with the next run`
}
