import { type CommandContext, type ExitCode, exitCodes, type GlobalOptions } from '../command.ts'
import { choosePrompts } from '../prompts.ts'

/**
 * Asks the operator to type the name of the cluster, for changes that cannot be undone. Returns an exit code
 * if the operator does not confirm.
 */
export async function confirmByName(
  context: CommandContext,
  options: GlobalOptions,
  name: string,
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
  const input = await prompts.text({
    message: `to do this, write the name of the cluster (${name}); an empty line leaves it`,
    fallback: '',
    check: (text) => (text === name || text === '' ? undefined : `its name is ${name}`),
  })
  if (input === name) return true
  context.stderr.write('nothing was done\n')
  return exitCodes.changesPending
}
