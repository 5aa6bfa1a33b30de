import { randomUUID } from 'node:crypto'
import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import { errorsIn, eventStream, failureOf, type Outcome, type Tell } from '../lifecycle/event-stream.ts'
import { type Context, type ExitCode, exitCodes } from './command.ts'
import { Interrupted } from './prompts.ts'
import { openProgress, type ProgressKind } from './render/open-progress.ts'
import type { Progress } from './render/progress.ts'
import { tallyOf } from './render/run-counters.ts'

export interface RunSettings {
  readonly command: string
  readonly cluster: string
  readonly progress: ProgressKind
  readonly debug: boolean
}

/** What a command tells of its run with. */
export interface ReportedRun extends Pick<Progress, 'say'> {
  readonly tell: Tell
}

/** How a run ended, for whoever called the command and for those who watched. */
export interface Verdict {
  readonly code: ExitCode
  readonly result: Outcome
}

export interface EndedRun {
  readonly code: ExitCode
  readonly ops: number
  readonly changedHosts: readonly string[]
  readonly seconds: number
  readonly log: string | undefined
}

/** What an exit code means, for programs. */
export const outcomeNames: Readonly<Record<ExitCode, string>> = {
  [exitCodes.ok]: 'done',
  [exitCodes.changesPending]: 'pending',
  [exitCodes.failure]: 'failed',
  [exitCodes.usage]: 'failed',
  [exitCodes.interrupted]: 'interrupted',
}

/** One run of a command that changes a cluster: shown while it lasts, and written down for later. */
export async function reportedRun(
  context: Context,
  settings: RunSettings,
  act: (run: ReportedRun) => Promise<Verdict>,
): Promise<EndedRun> {
  const { now, signal } = context
  const begun = now()
  const log = context.runLogs.open(settings.cluster, settings.command, begun)
  const progress = openProgress(context, settings.progress, settings.debug)
  const tally = tallyOf()
  const stream = eventStream(randomUUID(), now, [tally.heard, log.heard, progress.heard])
  let isOver = false
  // What was cut off may still have something to say.
  const tell: Tell = (what, about) => {
    if (!isOver) stream(what, about)
  }
  const stopping = (): void =>
    tell({ type: 'stopping', because: isDeadline(signal) ? 'timeout' : 'interrupted' })
  signal.addEventListener('abort', stopping, { once: true })
  try {
    tell({ type: 'run-started', command: settings.command })
    if (log.problem !== undefined) tell(noLog(log.problem))
    const { code, result } = await verdictOf(act({ tell, say: progress.say }), signal, (stack) => {
      if (settings.debug) progress.say(`${printable(stack)}\n`)
    })
    tell({ type: 'run-ended', result })
    isOver = true
    const isWorthReading = result.outcome === 'failed' || result.outcome === 'interrupted'
    if (isWorthReading && log.path !== undefined)
      progress.say(printable(`the log of this run: ${log.path}\n`))
    const seconds = (now().getTime() - begun.getTime()) / 1000
    return { code, seconds, log: log.path, ops: tally.ops(), changedHosts: tally.hosts() }
  } finally {
    signal.removeEventListener('abort', stopping)
    progress.close()
    log.close()
  }
}

async function verdictOf(
  act: Promise<Verdict>,
  signal: AbortSignal,
  unforeseen: (stack: string) => void,
): Promise<Verdict> {
  try {
    return await act
  } catch (error) {
    if (isDeadline(signal)) return failed(signal.reason)
    if (signal.aborted || error instanceof Interrupted) {
      return { code: exitCodes.interrupted, result: { outcome: 'interrupted' } }
    }
    const unknown = errorsIn(error).find((one) => !(one instanceof HyperkubeError))
    if (unknown === undefined) return failed(error)
    if (unknown instanceof Error) unforeseen(unknown.stack ?? '')
    return failed(error, 'this is a mistake of ours; please report it with the log of this run')
  }
}

function failed(error: unknown, hint?: string): Verdict {
  const failure = { ...failureOf(error), ...(hint === undefined ? {} : { hint }) }
  return { code: exitCodes.failure, result: { outcome: 'failed', failure } }
}

/** A person gives no reason for stopping; that the time is over is one. */
function isDeadline({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof HyperkubeError
}

function noLog(problem: string): Parameters<Tell>[0] {
  const finding = {
    code: 'RUN_LOG_NOT_WRITTEN',
    severity: 'warning',
    message: `no log of this run is kept: ${problem}`,
    hint: 'XDG_STATE_HOME names another directory',
  } as const
  return { type: 'finding', finding }
}
