import type { Event } from '../../contract/event.ts'
import type { JournalEntry, Op } from '../../contract/op.ts'
import { formatError, hasCode, HyperkubeError, toFailure } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import type { Journal } from './journal.ts'
import type { LedgerStore } from './ledger.ts'

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

export type RunEventBody = Event['body']

/** Emits an event of a run. `component` names the component that the event concerns. */
export type EmitRunEvent = (what: RunEventBody, component?: string) => void

const diskFullHint = 'free disk space on the host: df -h shows which disk is full'

/** Converts an error of an op to an error that names host, component and op. */
function toOpError(op: Op, host: string, error: unknown): HyperkubeError {
  const subject = { host, component: op.component }
  const what = `${op.action} ${op.target} ${op.name}`
  if (isDiskFull(error)) {
    return new HyperkubeError('APPLY_DISK_FULL', `${what}: the disk is full`, {
      ...subject,
      hint: diskFullHint,
    })
  }
  if (!(error instanceof HyperkubeError))
    return new HyperkubeError('APPLY_OP_FAILED', `${what} failed`, { ...subject, cause: error })
  const { code, message, hint, cause } = error
  return new HyperkubeError(code, message, {
    host,
    component: error.component ?? op.component,
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  })
}

/**
 * Converts a disk-full error that occurred outside an op (before the first op, between two ops, or while
 * writing the journal) to APPLY_DISK_FULL. Returns other errors unchanged.
 */
export function toRunError(error: unknown, host?: string): unknown {
  if (error instanceof HyperkubeError || !isDiskFull(error)) return error
  const subject = host === undefined ? {} : { host }
  return new HyperkubeError('APPLY_DISK_FULL', 'the disk is full', {
    ...subject,
    hint: diskFullHint,
  })
}

/**
 * True if the disk is full. The agent's own write may have failed, or a program that the agent ran reported
 * it.
 */
function isDiskFull(error: unknown): boolean {
  if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')) return true
  return hasCode(error, 'COMMAND_FAILED') && formatError(error).includes('No space left on device')
}
