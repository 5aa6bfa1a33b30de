import { formatDuration } from '../../kit/duration.ts'
import type { CommandContext, GlobalOptions } from '../command.ts'
import { Interrupted, choosePrompts } from '../prompts.ts'

/**
 * `left`: the operator has interrupted the prompt and the change stays provisional. `over`: the time has
 * passed. `no-prompt`: there is no operator to ask.
 */
export type ProvisionalDecision = 'confirm' | 'rollback' | 'left' | 'over' | 'no-prompt'

/** How often the prompt is repeated with the remaining time, in milliseconds. */
const repeatMs = 60_000

/** Asks whether to confirm a provisional change, until its time has passed. */
export async function promptConfirmation(
  { openPrompts, signal, now }: Pick<CommandContext, 'openPrompts' | 'signal' | 'now'>,
  options: GlobalOptions,
  until: Date,
): Promise<ProvisionalDecision> {
  for (;;) {
    const remainingMs = until.getTime() - now().getTime()
    if (remainingMs <= 0) return 'over'
    const tick = AbortSignal.timeout(Math.min(remainingMs, repeatMs))
    const prompts = choosePrompts({ openPrompts, signal: AbortSignal.any([signal, tick]) }, options)
    if (prompts === undefined) return 'no-prompt'
    try {
      const message = `confirm the change? ${formatDuration(remainingMs)} are left; no rolls back now, Ctrl-C leaves it provisional`
      return (await prompts.confirm({ message, fallback: false })) ? 'confirm' : 'rollback'
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      if (!tick.aborted || signal.aborted) return 'left'
    }
  }
}
