import { type CommandContext, type ExitCode, exitCodes, type GlobalOptions } from '../command.ts'
import { choosePrompts } from '../prompts.ts'

/** Asks the operator to confirm the shown changes. Returns an exit code if the operator does not confirm. */
export async function confirmChanges(
  context: CommandContext,
  options: GlobalOptions,
  canPrompt: boolean,
): Promise<true | ExitCode> {
  if (options.yes === true) return true
  const prompts = canPrompt ? choosePrompts(context, options) : undefined
  if (prompts === undefined) {
    context.stderr.write(
      'USAGE: this needs a confirmation, and there is no terminal to ask on; nothing was done\n',
    )
    context.stderr.write('  → --yes confirms it\n')
    return exitCodes.usage
  }
  const isConfirmed = await prompts.confirm({ message: 'make these changes?', fallback: false })
  if (isConfirmed) return true
  context.stderr.write('nothing was done\n')
  return exitCodes.changesPending
}
