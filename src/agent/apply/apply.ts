import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { compareStages, type Stage } from '../../contract/stage.ts'
import { digestOf } from '../../diff/digest.ts'
import { items } from '../../diff/plan-resources.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import { clearDelivered } from './delivered.ts'
import { diffLedger, ledgerFor } from './diff-host.ts'
import type { Emit } from './emit-run-event.ts'
import { openJournal } from './journal.ts'
import { settled } from './ledger.ts'
import { LedgerBook } from './ledger-store.ts'
import { runError } from './op-error.ts'
import type { PlanRun } from './apply-op.ts'
import { rememberPlan } from './applied-plan.ts'
import { downloadsFor, prefetch } from './prefetch.ts'
import { journalRun, runOp } from './run-op.ts'
import { restartUs } from './start-stage.ts'
import { sweep } from './clean-temp.ts'
import { walk } from './walk.ts'

export interface ApplyOptions {
  readonly host: Host
  readonly plan: NodePlan
  /** The last stage that is done. */
  readonly through: Stage
  /** By the name that the plan gives them. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** PEM, by the path of the certificate's file. */
  readonly certificates: ReadonlyMap<string, string>
  /** What is not to be done though it differs, where not all of it can be. */
  readonly leaveOut?: (op: Op) => boolean
  /** What the journal says of it, where it is no ordinary one. */
  readonly command?: string
  readonly run: string
  readonly emit: Emit
  readonly signal: AbortSignal
}

/**
 * Makes a host be as its plan says, up to a stage. It stops at the first failure, and may be cut at any moment: the next
 * run looks what is there, and goes on.
 */
export async function apply(options: ApplyOptions): Promise<void> {
  await applyAll(options).catch((error: unknown) => {
    throw runError(error, options.plan.host)
  })
}

async function applyAll(options: ApplyOptions): Promise<void> {
  const {
    host,
    plan,
    through,
    signal,
    leaveOut = () => false,
    command = `apply through ${through}`,
  } = options
  const book = new LedgerBook(host, await ledgerFor(host, plan))
  const journal = await openJournal(host, options.run)
  const run: PlanRun = { ...options, name: plan.host, items: items(plan), book, journal }
  await journalRun(run, { command, plan: digestOf(plan) }, async () => {
    await sweep(host, book.ledger, plan)
    const { ops: found } = await diffLedger(host, plan, book.ledger)
    const ops = found.filter((op) => !leaveOut(op))
    await fetchFirst(run, ops)
    const own = await walk(
      run,
      ops.filter(({ stage }) => compareStages(stage, through) <= 0),
    )
    await book.keep(settledOrSame(run))
    signal.throwIfAborted()
    const left = ops.filter(({ stage }) => compareStages(stage, through) > 0)
    if (left.length === 0) await rememberPlan(host, plan)
    await clearDelivered(host, left)
    for (const op of own) await restartUs(run, op)
  })
}

async function fetchFirst(run: PlanRun, ops: readonly Op[]): Promise<void> {
  const failure = await prefetch(downloadsFor(run.plan, ops), run)
  if (failure === undefined) return
  await runOp(run, failure.op, async () => {
    throw failure.error
  })
}

/** Nothing is written when nothing changes. */
function settledOrSame({ book, items: planned, through }: PlanRun): Ledger {
  const next = settled(book.ledger, planned, through)
  return JSON.stringify(next) === JSON.stringify(book.ledger) ? book.ledger : next
}
