import type { Ledger } from '../../../contract/ledger.ts'
import type { Op } from '../../../contract/op.ts'
import { nothingPlanned } from '../../../diff/empty-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { type Host, servicesOf } from '../../host/host.ts'
import type { Emit } from '../emit-run-event.ts'
import { openJournal } from '../journal.ts'
import { findThing, withoutThing } from '../ledger.ts'
import { LedgerBook, readLedger } from '../ledger-store.ts'
import { stillUsed } from '../apply-op.ts'
import { journalRun, type Outcome, type Run, runOp } from '../run-op.ts'
import { sweep } from '../clean-temp.ts'
import { targetsFor } from '../handlers-by-os.ts'
import { leftoverSteps } from './leftover-steps.ts'
import { opsAgainst } from './diff-against-ledger.ts'
import { ownUnit, removeOwn } from './remove-own-files.ts'
import { stop } from './stop-services.ts'

export interface ResetOptions<H extends Host = Host> {
  readonly host: H
  /** What the operator calls the host. */
  readonly name: string
  readonly run: string
  readonly emit: Emit
  readonly signal: AbortSignal
}

export interface Reset {
  readonly report: readonly ResetStep[]
  /** Ends the service that this process is, if it is one: to be done when all has been told. */
  readonly farewell: (() => Promise<void>) | undefined
}

export interface ResetStep {
  readonly step: string
  /** What was there of it. */
  readonly removed: readonly string[]
  /** What could not go yet, because something still runs from it. */
  readonly held?: readonly string[]
}

/**
 * Takes everything of ours off a host, without any plan, and leaves what is not ours. The ledger goes last: who is cut
 * over it can begin again.
 */
export async function reset(options: ResetOptions): Promise<Reset> {
  const { host, signal } = options
  const ledger = await readLedger(host)
  const services = servicesOf(host)
  const unit = ownUnit(host)
  const isService = (await services.show(unit)).pid === host.release.pid
  const report = ledger === undefined ? [] : await resetLedger(options, ledger)
  signal.throwIfAborted()
  const held = await removeOwn(host, ledger)
  if (held.length > 0) options.emit({ type: 'log', lines: held.map(stillUsed) })
  return {
    report: held.length === 0 ? report : [...report, { step: 'own', removed: [], held }],
    farewell: isService ? async () => services.stop(unit) : undefined,
  }
}

async function resetLedger(options: ResetOptions, ledger: Ledger): Promise<readonly ResetStep[]> {
  const { host, name } = options
  const book = new LedgerBook(host, ledger)
  const run: Run = { ...options, book, journal: await openJournal(host, options.run) }
  const plan = nothingPlanned(ledger.cluster, name)
  const ops = opsAgainst(plan, ledger)
  const stops = ops.filter(({ action }) => action === 'stop')
  const removals = ops.filter(({ action }) => action === 'remove')
  const report: ResetStep[] = []
  await journalRun(run, { command: 'reset' }, async () => {
    await sweep(host, ledger, plan)
    for (const op of stops) await runOp(run, op, async () => stop(run, op))
    report.push(...(await takeLeftovers(options, ledger)))
    for (const op of removals) await runOp(run, op, async () => remove(run, op))
    report.push({ step: 'things', removed: removals.map((op) => `${op.target} ${op.name}`) })
  })
  return report
}

async function takeLeftovers(
  { host, name, emit, signal }: ResetOptions,
  ledger: Ledger,
): Promise<readonly ResetStep[]> {
  const report: ResetStep[] = []
  for (const [step, take] of leftoverSteps(host, ledger)) {
    signal.throwIfAborted()
    const removed = await take(signal).catch((cause: unknown) => {
      signal.throwIfAborted()
      const message = `${step} of the cluster could not be taken away`
      throw new HyperkubeError('APPLY_OP_FAILED', message, { host: name, cause })
    })
    report.push({ step, removed })
    if (removed.length > 0) emit({ type: 'log', lines: removed.map((line) => `${step}: ${line}`) })
  }
  return report
}

async function remove({ host, book, emit }: Run, op: Op): Promise<Outcome> {
  const thing = findThing(book.ledger, op)
  if (thing === undefined) return 'unchanged'
  const scene = { host, ledger: book.ledger }
  const { changed, left, held = [] } = await targetsFor(host)[thing.target].remove(thing, scene)
  if (held.length > 0) emit({ type: 'log', lines: held.map(stillUsed) }, op.component)
  await book.keep(withoutThing(book.ledger, op, left))
  return changed ? 'done' : 'unchanged'
}
