import type { JournalEntry } from '../../contract/journal.ts'
import type { Op } from '../../contract/op.ts'
import { describe, HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Host } from '../host/host.ts'
import type { Emit, Told } from './emit-run-event.ts'
import type { Journal } from './journal.ts'
import type { LedgerBook } from './ledger-store.ts'
import { opError } from './op-error.ts'

/** One run of ops on a host. */
export interface Run<H extends Host = Host> {
  readonly host: H
  /** What the operator calls the host. */
  readonly name: string
  readonly book: LedgerBook
  readonly journal: Journal
  readonly emit: Emit
  readonly signal: AbortSignal
}

/** What an op is told and written down with. */
export type OpRun = Omit<Run, 'host' | 'book'>

export type Outcome = 'done' | 'unchanged'
type Result = Extract<Told, { type: 'op-ended' }>['result']

/** Written down before it is told, and told before it is done. */
export async function beginOp({ journal, emit, signal }: OpRun, op: Op): Promise<void> {
  signal.throwIfAborted()
  await journal.write({ type: 'op-started', op })
  emit({ type: 'op-started', op }, op.component)
}

export async function endOp(
  { journal, emit }: OpRun,
  op: Op,
  outcome: Outcome | 'interrupted',
): Promise<void> {
  await journal.write({ type: 'op-ended', op, outcome })
  emit({ type: 'op-ended', op, result: { outcome } }, op.component)
}

/** Answers with the error to throw. An abort is no failure. */
export async function failOp(run: OpRun, op: Op, error: unknown): Promise<Error> {
  if (run.signal.aborted) {
    await endOp(run, op, 'interrupted')
    return error instanceof Error ? error : new Error('interrupted')
  }
  const failure = opError(op, run.name, error)
  const result: Result = { outcome: 'failed', failure: failureOf(failure) }
  // A disk that is full takes no line either, and that must not hide why.
  await run.journal.write({ type: 'op-ended', op, ...journaled(failure) }).catch(() => undefined)
  run.emit({ type: 'op-ended', op, result }, op.component)
  return failure
}

/** From its beginning to its end, whatever that is. */
export async function runOp(run: OpRun, op: Op, work: () => Promise<Outcome>): Promise<Outcome> {
  await beginOp(run, op)
  try {
    const outcome = await work()
    await endOp(run, op, outcome)
    return outcome
  } catch (error) {
    throw await failOp(run, op, error)
  }
}

/** A whole run in the journal, however it ends. */
export async function journalRun(
  { journal, signal }: Pick<Run, 'journal' | 'signal'>,
  started: Omit<Extract<JournalEntry['what'], { type: 'run-started' }>, 'type'>,
  work: () => Promise<void>,
): Promise<void> {
  await journal.write({ type: 'run-started', ...started })
  try {
    await work()
    await journal.write({ type: 'run-ended', outcome: 'done' })
  } catch (error) {
    const ended = signal.aborted ? { outcome: 'interrupted' as const } : journaled(error)
    await journal.write({ type: 'run-ended', ...ended }).catch(() => undefined)
    throw error
  }
}

function journaled(error: unknown) {
  const { code, message } = failureOf(error)
  return { outcome: 'failed', failure: { code, message } } as const
}

function failureOf(error: unknown) {
  const known = error instanceof HyperkubeError ? error : undefined
  return {
    code: known?.code ?? 'UNEXPECTED',
    message: printable(describe(error)),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  }
}
