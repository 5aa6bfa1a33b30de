import {
  type ActionOutcome,
  type ActionRun,
  type ActionStatus,
  actionStatuses,
} from '../../actions/phases/action-run.ts'
import { type CommandContext, type ExitCode, exitCodes, type GlobalOptions } from '../command/command.ts'
import { confirmByName, confirmChanges, promptProvisional } from '../command/confirm.ts'
import { confirmHostKeys } from '../command/confirm-host-keys.ts'
import { formatNotice } from '../text/notice-text.ts'
import {
  type DisplayFlags,
  readDisplayFlags,
  type RunReporter,
  type RunSettings,
  type RunSummary,
  runWithProgress,
} from './run-with-progress.ts'

/** Exit code of a command, by the status with which its action ended. */
export const exitCodeByStatus: Readonly<Record<ActionStatus, ExitCode>> = {
  ok: exitCodes.ok,
  'changes-pending': exitCodes.changesPending,
  failed: exitCodes.failure,
  'not-confirmed': exitCodes.usage,
  interrupted: exitCodes.interrupted,
}

/** Returns the action status for an exit code. */
export function statusByExitCode(code: ExitCode): ActionStatus {
  return actionStatuses.find((status) => exitCodeByStatus[status] === code) ?? 'failed'
}

export interface ActionSummary<T extends ActionOutcome> extends RunSummary {
  /** Undefined if the action threw an error or was interrupted. */
  readonly outcome: T | undefined
}

/** Runs an action, shows its progress and notices, asks its questions, and logs its events. */
export async function runAction<T extends ActionOutcome>(
  context: CommandContext,
  options: GlobalOptions,
  settings: Omit<RunSettings, keyof DisplayFlags>,
  action: (run: ActionRun) => Promise<T>,
): Promise<ActionSummary<T>> {
  let outcome: T | undefined
  const runSettings = { ...settings, ...readDisplayFlags(options) }
  const summary = await runWithProgress(context, runSettings, async (reporter) => {
    outcome = await action(createActionRun(context, options, settings.progress !== 'json', reporter))
    return { code: exitCodeByStatus[outcome.status], result: outcome.result }
  })
  return { ...summary, outcome }
}

/**
 * Connects an action to the terminal. `canPrompt` is false with JSON progress, because a program then reads
 * the output.
 */
export function createActionRun(
  context: CommandContext,
  options: GlobalOptions,
  canPrompt: boolean,
  { emit, print }: Pick<RunReporter, 'emit' | 'print'>,
): ActionRun {
  return {
    emit,
    show: (notice) => print(formatNotice(notice, context.paintProgress)),
    confirm: async (question) => {
      switch (question.type) {
        case 'changes':
          return confirmChanges(context, options, canPrompt)
        case 'host-keys':
          return confirmHostKeys(context, options, question.unknown, canPrompt)
        default:
          return confirmByName(context, options, question.name, canPrompt)
      }
    },
    decideProvisional: async (until) =>
      canPrompt ? promptProvisional(context, options, until) : 'no-prompt',
  }
}
