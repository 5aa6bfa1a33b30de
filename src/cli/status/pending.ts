import { joinNames } from '../../kit/text.ts'
import type { CommandContext, GlobalOptions } from '../command/command.ts'

/** Interval at which missing responses are printed, in milliseconds. */
const silenceMs = 2000

interface PendingDisplay extends Disposable {
  readonly update: (names: readonly string[]) => void
}

/**
 * Prints which hosts and services have not responded yet. Checks this every two seconds, and prints a line
 * only if it differs from the previous line.
 */
export function showPending(
  { stderr, repeat }: Pick<CommandContext, 'stderr' | 'repeat'>,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
): PendingDisplay {
  let [names, printed]: [readonly string[], string] = [[], '']
  const stop = repeat(silenceMs, () => {
    const text = names.length === 0 ? '' : `waiting for ${joinNames(names)}\n`
    if (quiet === true || text === '' || text === printed) return
    printed = text
    stderr.write(text)
  })
  return { update: (pending) => void (names = pending), [Symbol.dispose]: stop }
}
