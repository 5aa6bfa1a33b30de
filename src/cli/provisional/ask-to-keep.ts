import { duration } from '../../kit/duration.ts'
import type { Context, GlobalOptions } from '../command.ts'
import { Interrupted, whomToAsk } from '../prompts.ts'

/** `left`: they have gone, and it goes on without them. `over`: the time. */
export type Decision = 'keep' | 'back' | 'left' | 'over' | 'nobody'

/** The time that is left is told anew so often, in milliseconds. */
const told = 60_000

/** Asks whether what is on trial shall stay, for as long as it is. */
export async function askToKeep(
  { questions, signal, now }: Pick<Context, 'questions' | 'signal' | 'now'>,
  options: GlobalOptions,
  until: Date,
): Promise<Decision> {
  for (;;) {
    const left = until.getTime() - now().getTime()
    if (left <= 0) return 'over'
    const tick = AbortSignal.timeout(Math.min(left, told))
    const person = whomToAsk({ questions, signal: AbortSignal.any([signal, tick]) }, options)
    if (person === undefined) return 'nobody'
    try {
      const message = `keep it? ${duration(left)} are left; no goes back now, Ctrl-C leaves it on trial`
      return (await person.confirm({ message, fallback: false })) ? 'keep' : 'back'
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      if (!tick.aborted || signal.aborted) return 'left'
    }
  }
}
