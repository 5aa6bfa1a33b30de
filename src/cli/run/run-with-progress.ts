import { randomUUID } from 'node:crypto'
import type { Event } from '../../contract/event.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import {
  flattenErrors,
  createEventStream,
  toStepFailure,
  type StepResult,
  type EmitEvent,
} from '../../lifecycle/agents/event-stream.ts'
import { type CommandContext, type ExitCode, exitCodes, type GlobalOptions } from '../command/command.ts'
import { Interrupted } from '../command/prompts.ts'
import { type ProgressKind } from '../command/run-flags.ts'
import { openProgress } from '../render/open-progress.ts'
import type { ProgressDetail, ProgressRenderer } from '../render/progress.ts'
import { createRunCounters } from '../render/run-counters.ts'

export interface RunSettings extends DisplayFlags {
  readonly command: string
  readonly cluster: string
  readonly progress: ProgressKind
}

/** Flags that decide how much of a run is printed. */
export interface DisplayFlags {
  readonly debug: boolean
  readonly detail: ProgressDetail
}

export function readDisplayFlags({ debug, verbose, quiet }: GlobalOptions): DisplayFlags {
  return {
    debug: debug === true,
    detail: quiet === true ? 'quiet' : verbose === true ? 'verbose' : 'normal',
  }
}

/** Emits events of a run, and prints text between them. */
export interface RunReporter extends Pick<ProgressRenderer, 'print'> {
  readonly emit: EmitEvent
  /** Writes an event of another run to the log, without showing it. */
  readonly record: (event: Event) => void
}

/** How a run ended: the exit code for the caller, and the result for the event log. */
export interface CommandOutcome {
  readonly code: ExitCode
  readonly result: StepResult
}

export interface RunSummary {
  readonly code: ExitCode
  readonly ops: number
  readonly changedHosts: readonly string[]
  readonly seconds: number
  readonly log: string | undefined
}

/** Names of the exit codes in JSON output. */
export const resultNames: Readonly<Record<ExitCode, string>> = {
  [exitCodes.ok]: 'done',
  [exitCodes.changesPending]: 'pending',
  [exitCodes.failure]: 'failed',
  [exitCodes.usage]: 'failed',
  [exitCodes.interrupted]: 'interrupted',
}

/** Runs a task of a command, shows its progress and logs its events. */
export async function runWithProgress(
  context: CommandContext,
  settings: RunSettings,
  task: (run: RunReporter) => Promise<CommandOutcome>,
): Promise<RunSummary> {
  const { now, signal } = context
  const startedAt = now()
  const log = context.commandLogs.open(settings.cluster, settings.command, startedAt)
  const progress = openProgress(context, settings)
  const counters = createRunCounters()
  const stream = createEventStream(randomUUID(), now, [counters.onEvent, log.onEvent, progress.onEvent])
  let isOver = false
  // Events that an interrupted task emits after the end of the run are dropped.
  const emit: EmitEvent = (body, subject) => {
    if (!isOver) stream(body, subject)
  }
  const onAbort = (): void =>
    emit({ type: 'stopping', because: isDeadline(signal) ? 'timeout' : 'interrupted' })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    emit({ type: 'run-started', command: context.typedCommand ?? settings.command })
    if (log.problem !== undefined) emit(buildNoLogFinding(log.problem))
    const { code, result } = await awaitOutcome(
      task({ emit, print: progress.print, record: log.onEvent }),
      signal,
      (stack) => {
        if (settings.debug) progress.print(`${toPrintable(stack)}\n`)
      },
    )
    emit({ type: 'run-ended', result })
    isOver = true
    const isWorthReading = result.outcome === 'failed' || result.outcome === 'interrupted'
    if (isWorthReading && log.path !== undefined)
      progress.print(toPrintable(`the log of this run: ${log.path}\n`))
    const seconds = (now().getTime() - startedAt.getTime()) / 1000
    return { code, seconds, log: log.path, ops: counters.ops(), changedHosts: counters.hosts() }
  } finally {
    signal.removeEventListener('abort', onAbort)
    progress.close()
    log.close()
  }
}

async function awaitOutcome(
  task: Promise<CommandOutcome>,
  signal: AbortSignal,
  onUnexpected: (stack: string) => void,
): Promise<CommandOutcome> {
  try {
    return await task
  } catch (error) {
    if (isDeadline(signal)) return buildFailedOutcome(signal.reason)
    if (signal.aborted || error instanceof Interrupted) {
      return { code: exitCodes.interrupted, result: { outcome: 'interrupted' } }
    }
    const unexpected = flattenErrors(error).find((item) => !(item instanceof HyperkubeError))
    if (unexpected === undefined) return buildFailedOutcome(error)
    if (unexpected instanceof Error) onUnexpected(unexpected.stack ?? '')
    return buildFailedOutcome(error, 'this is a bug in hyperkube; report it with the log of this run')
  }
}

function buildFailedOutcome(error: unknown, hint?: string): CommandOutcome {
  const failure = { ...toStepFailure(error), ...(hint === undefined ? {} : { hint }) }
  return { code: exitCodes.failure, result: { outcome: 'failed', failure } }
}

/** True if --timeout aborted the signal. Only --timeout aborts with a HyperkubeError; Ctrl-C does not. */
function isDeadline({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof HyperkubeError
}

function buildNoLogFinding(problem: string): Parameters<EmitEvent>[0] {
  const finding = {
    code: 'RUN_LOG_NOT_WRITTEN',
    severity: 'warning',
    message: `cannot write the log of this run: ${problem}`,
    hint: 'set XDG_STATE_HOME to a writable directory',
  } as const
  return { type: 'finding', finding }
}
