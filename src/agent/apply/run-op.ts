import type { JournalEntry } from '../../contract/journal.ts'
import type { Op } from '../../contract/op.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/printable.ts'
import type { Host } from '../host/host.ts'
import type { EmitRunEvent, RunEventBody } from './emit-run-event.ts'
import type { Journal } from './journal.ts'
import type { LedgerStore } from './ledger-store.ts'
import { toOpError } from './op-error.ts'

/** One run of ops on a host. */
export interface Run<H extends Host = Host> {
  readonly host: H
  /** Name of the host in cluster.yml. */
  readonly name: string
  readonly ledgerStore: LedgerStore
  readonly journal: Journal
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/** The fields of a run that are needed to journal and report an op. */
export type OpRunContext = Omit<Run, 'host' | 'ledgerStore'>

export type OpOutcome = 'done' | 'unchanged'
type OpResult = Extract<RunEventBody, { type: 'op-ended' }>['result']

/** Journals the start of an op and then emits its event. Called before the op is executed. */
export async function beginOp({ journal, emit, signal }: OpRunContext, op: Op): Promise<void> {
  signal.throwIfAborted()
  await journal.write({ type: 'op-started', op })
  emit({ type: 'op-started', op }, op.component)
}

export async function endOp(
  { journal, emit }: OpRunContext,
  op: Op,
  outcome: OpOutcome | 'interrupted',
): Promise<void> {
  await journal.write({ type: 'op-ended', op, outcome })
  emit({ type: 'op-ended', op, result: { outcome } }, op.component)
}

/** Journals and reports a failed op and returns the error to throw. An abort is not a failure. */
export async function failOp(run: OpRunContext, op: Op, error: unknown): Promise<Error> {
  if (run.signal.aborted) {
    await endOp(run, op, 'interrupted')
    return error instanceof Error ? error : new Error('interrupted')
  }
  const failure = toOpError(op, run.name, error)
  const result: OpResult = { outcome: 'failed', failure: toFailure(failure) }
  // If the disk is full, writing the journal fails too. That second error must not hide the first one.
  await run.journal.write({ type: 'op-ended', op, ...toJournalFailure(failure) }).catch(() => undefined)
  run.emit({ type: 'op-ended', op, result }, op.component)
  return failure
}

/** Executes one op and records its start and end in the journal and as events. */
export async function runOp(run: OpRunContext, op: Op, work: () => Promise<OpOutcome>): Promise<OpOutcome> {
  await beginOp(run, op)
  try {
    const outcome = await work()
    await endOp(run, op, outcome)
    return outcome
  } catch (error) {
    throw await failOp(run, op, error)
  }
}

/** Runs `work` between a start and an end entry in the journal. */
export async function journalRun(
  { journal, signal }: Pick<Run, 'journal' | 'signal'>,
  started: Omit<Extract<JournalEntry['body'], { type: 'run-started' }>, 'type'>,
  work: () => Promise<void>,
): Promise<void> {
  await journal.write({ type: 'run-started', ...started })
  try {
    await work()
    await journal.write({ type: 'run-ended', outcome: 'done' })
  } catch (error) {
    const ended = signal.aborted ? { outcome: 'interrupted' as const } : toJournalFailure(error)
    await journal.write({ type: 'run-ended', ...ended }).catch(() => undefined)
    throw error
  }
}

function toJournalFailure(error: unknown) {
  const { code, message } = toFailure(error)
  return { outcome: 'failed', failure: { code, message } } as const
}

function toFailure(error: unknown) {
  const known = error instanceof HyperkubeError ? error : undefined
  return {
    code: known?.code ?? 'UNEXPECTED',
    message: toPrintable(formatError(error)),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  }
}
