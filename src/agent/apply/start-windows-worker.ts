import type { Op } from '../../contract/op.ts'
import { servicesOf, type WindowsHost } from '../host/host.ts'
import { workerEdges } from '../windows/heal/build-reconcile-deps.ts'
import { readWorkerMemory, writeWorkerMemory } from '../windows/heal/reconcile-state.ts'
import { workerWishOf } from '../windows/heal/build-worker-spec.ts'
import { allRoles, type Role } from '../windows/reconcile/worker-spec.ts'
import { round, type RoundEnd } from '../windows/reconcile/reconcile-once.ts'
import { withStarted } from './ledger.ts'
import { perform, type PlanRun } from './apply-op.ts'
import { beginOp, endOp, failOp, runOp } from './run-op.ts'
import { failure, type Start, stopService } from './start-service.ts'
import { beginWatch, patienceWith, verdict, type Watch, watchOn } from './start-status.ts'
import { type Look, waitFor } from './wait-for.ts'

interface Wanted {
  readonly op: Op
  readonly start: Start
}

interface Begun extends Wanted {
  readonly changed: boolean
  watch: Watch
}

/** Between two rounds, in milliseconds. */
const every = 1000

export function isWorkerService({ component }: Pick<Op, 'component'>): boolean {
  return allRoles.some((role: Role) => role === component)
}

/**
 * Starts services of a Windows worker by the same rounds by which they are kept: in the order in which they need each
 * other, with the networks between them. Files that are made from what those rounds write are made on the way.
 */
export async function bringUp(
  run: PlanRun<WindowsHost>,
  wanted: readonly Wanted[],
  derived: readonly Op[],
): Promise<void> {
  const { host, plan, emit, signal } = run
  const begun: Begun[] = []
  const left = new Map(derived.map((op) => [op.name, op]))
  // The manager stops those that depend on one with it.
  const former = await running(run)
  const isAllUp = async (): Promise<boolean> => {
    const now = await running(run)
    return [...former].every((name) => now.has(name))
  }
  try {
    for (const one of wanted) begun.push(await begin(run, one))
    await waitFor(
      async (): Promise<Look<true>> => {
        const { decision } = await oneRound(run, left)
        const reason = decision.kind === 'wait' ? decision.reason : 'it'
        await conclude(run, begun, reason)
        if (begun.length === 0 && left.size === 0 && (await isAllUp())) return { found: true }
        return { for: reason }
      },
      {
        clock: host.clock,
        signal,
        every,
        tell: (what) => emit(what, begun[0]?.op.component ?? plan.components[0]?.name),
      },
    )
  } catch (error) {
    // A run that ends early does not wait for what it has begun.
    for (const { op } of begun) await endOp(run, op, 'interrupted').catch(() => undefined)
    throw error
  }
}

/** The services of the worker that run. */
async function running({ host, plan }: PlanRun<WindowsHost>): Promise<ReadonlySet<string>> {
  const names = plan.components.flatMap(({ name: component, service }) =>
    service !== undefined && isWorkerService({ component }) ? [service.name] : [],
  )
  const states = await servicesOf(host).showAll(names)
  return new Set(names.filter((_name, index) => states[index]?.active === 'active'))
}

/** What has not seen something yet sees it only when it starts anew: it is stopped here, and started in its turn. */
async function begin(run: PlanRun<WindowsHost>, { op, start }: Wanted): Promise<Begun> {
  const { host, emit, signal } = run
  const { service, action, before, component } = start
  await beginOp(run, op)
  try {
    const anew = action === 'restart' || service.unseen.length > 0
    if (anew) await stopService(host, op.name, op.component, emit, signal)
    const former = anew && before.invocation !== '' ? before.invocation : undefined
    const now = host.clock.now().getTime()
    const watch = beginWatch(op.name, before, former, now, patienceWith(component))
    return { op, start, changed: anew || before.active !== 'active', watch }
  } catch (error) {
    throw await failOp(run, op, error)
  }
}

async function oneRound(run: PlanRun<WindowsHost>, left: Map<string, Op>): Promise<RoundEnd> {
  const { host, plan, book, signal } = run
  const wish = workerWishOf(plan, book.ledger)
  if (wish === undefined) throw new Error('the plan does not say which networks to keep')
  const derive = async ({ path }: { readonly path: string }): Promise<void> => {
    const op = left.get(path)
    if (op === undefined) return
    await runOp(run, op, async () => perform(run, op))
    left.delete(path)
  }
  const edges = workerEdges(host, plan, derive, signal)
  const keep = async (memory: RoundEnd['memory']): Promise<void> => writeWorkerMemory(host, memory)
  const end = await round(edges, wish, await readWorkerMemory(host), keep)
  await keep(end.memory)
  return end
}

/** Takes out of what was begun all that runs by now, and fails over the first of which there is no hope. */
async function conclude(run: PlanRun<WindowsHost>, begun: Begun[], reason: string): Promise<void> {
  const { host, book, emit } = run
  const states = await servicesOf(host).showAll(begun.map(({ op }) => op.name))
  const now = host.clock.now().getTime()
  for (const [index, one] of [...begun.entries()].toReversed()) {
    const state = states[index]
    if (state === undefined) throw new Error(`the supervisor has told nothing of ${one.op.name}`)
    one.watch = watchOn(one.watch, state, now)
    // One that nobody has started yet waits for its turn.
    const seen =
      state.active === 'inactive' ? ({ is: 'waiting', for: reason } as const) : verdict(one.watch, state, now)
    if (seen.is === 'waiting') continue
    begun.splice(index, 1)
    if (seen.is === 'failed') {
      const error = await failure(host, one.op.name, seen.how, one.op.component, emit)
      throw await failOp(run, one.op, error)
    }
    await book.keep(withStarted(book.ledger, one.op.name))
    await endOp(run, one.op, one.changed ? 'done' : 'unchanged')
  }
}
