import { type Context, type ExitCode, exitCodes, type GlobalOptions } from '../command.ts'
import { whomToAsk } from '../prompts.ts'

/** Whether what was shown shall be done; the exit code when not. */
export async function agreed(
  context: Context,
  options: GlobalOptions,
  mayAsk: boolean,
): Promise<true | ExitCode> {
  if (options.yes === true) return true
  const questions = mayAsk ? whomToAsk(context, options) : undefined
  if (questions === undefined) {
    context.stderr.write('USAGE: shall this be done? There is nobody to ask, and nothing was done\n')
    context.stderr.write('  → --yes says so\n')
    return exitCodes.usage
  }
  const yes = await questions.confirm({ message: 'shall this be done?', fallback: false })
  if (yes) return true
  context.stderr.write('nothing was done\n')
  return exitCodes.changesPending
}
