import type { Op } from '../../contract/op.ts'
import { findThing, withStarted } from './ledger.ts'
import { type PlanRun, perform } from './perform.ts'
import { beginOp, endOp, failOp, runOp } from './run.ts'
import { awaitStart, beginStart, type Starting } from './start-service.ts'
import type { Thing } from './target.ts'

/** What was begun and is waited for together, and what can only be done after that. */
export interface Begun {
  readonly starts: readonly { readonly op: Op; readonly starting: Starting }[]
  /** Filled in from what services write once they run. */
  readonly derived: readonly Op[]
}

export const nothingBegun: Begun = { starts: [], derived: [] }

export function isStart({ action }: Op): boolean {
  return action === 'start' || action === 'restart'
}

/**
 * Whether a start would end the very process that asks for it; and whether that is needed at all, as a new release of
 * ours is what already runs.
 */
export async function endsUs({ host, book }: PlanRun, op: Op): Promise<'no' | 'yes' | 'in vain'> {
  const { unseen } = serviceOf({ book }, op)
  const reasons = new Set([...op.because, ...unseen])
  const isOurs = (await host.systemd.show(op.name)).pid === host.release.pid
  if (!isOurs || reasons.size === 0) return 'no'
  reasons.delete(`hyperkube-${host.release.version}`)
  return reasons.size === 0 ? 'in vain' : 'yes'
}

/** It has seen all there is without another start. */
export async function needNoStart(run: PlanRun, op: Op): Promise<void> {
  await runOp(run, op, async () => {
    await run.book.keep(withStarted(run.book.ledger, op.name))
    return 'unchanged'
  })
}

export async function begin(run: PlanRun, op: Op): Promise<Begun['starts'][number]> {
  const component = run.plan.components.find(({ name }) => name === op.component)
  if (component === undefined) throw new Error(`the plan has no component ${op.component}`)
  await beginOp(run, op)
  try {
    const action = op.action === 'restart' ? 'restart' : 'start'
    return { op, starting: await beginStart(run.host, serviceOf(run, op), action, component) }
  } catch (error) {
    throw await failOp(run, op, error)
  }
}

/** Until all run. The first that fails ends the wait for the others. */
export async function finish(run: PlanRun, { starts, derived }: Begun): Promise<void> {
  const { host, book, emit, signal } = run
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const results = await Promise.allSettled(
    starts.map(async ({ op, starting }) =>
      awaitStart(host, starting.watch, op.component, emit, either).catch((error: unknown) => {
        const isFirst = !either.aborted
        failed.abort()
        throw isFirst ? new FirstFailure(error) : error
      }),
    ),
  )
  let failure: Error | undefined
  for (const [index, { op, starting }] of starts.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') {
      await book.keep(withStarted(book.ledger, op.name))
      await endOp(run, op, starting.changed ? 'done' : 'unchanged')
    } else if (result?.reason instanceof FirstFailure) {
      failure = await failOp(run, op, result.reason.cause)
    } else {
      await endOp(run, op, 'interrupted')
    }
  }
  signal.throwIfAborted()
  if (failure !== undefined) throw failure
  for (const op of derived) await runOp(run, op, async () => perform(run, op))
}

/** A run that ends early does not wait for what it has begun. */
export async function abandon(run: PlanRun, { starts }: Begun): Promise<void> {
  for (const { op } of starts) await endOp(run, op, 'interrupted').catch(() => undefined)
}

class FirstFailure extends Error {
  constructor(cause: unknown) {
    super('a service has failed', { cause })
  }
}

/** Written down as done before it is: the next agent finds a service that has seen all, which is itself. */
export async function restartUs(run: PlanRun, op: Op): Promise<void> {
  await runOp(run, op, async () => {
    await run.book.keep(withStarted(run.book.ledger, op.name))
    await run.host.systemd.restart(op.name)
    return 'done'
  })
}

function serviceOf({ book }: Pick<PlanRun, 'book'>, op: Op): Thing<'service'> {
  const thing = findThing(book.ledger, op)
  if (thing?.target === 'service') return thing
  throw new Error(`nothing is written down of ${op.name}`)
}
