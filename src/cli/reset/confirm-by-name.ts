import { type Context, type ExitCode, exitCodes, type GlobalOptions } from '../command.ts'
import { whomToAsk } from '../prompts.ts'

/** What cannot be undone is agreed to by writing whom it hits; the exit code when it is not. */
export async function agreedByName(
  context: Context,
  options: GlobalOptions,
  name: string,
  mayAsk: boolean,
): Promise<true | ExitCode> {
  if (options.yes === true) return true
  const questions = mayAsk ? whomToAsk(context, options) : undefined
  if (questions === undefined) {
    context.stderr.write('USAGE: shall this be done? There is nobody to ask, and nothing was done\n')
    context.stderr.write('  → --yes says so\n')
    return exitCodes.usage
  }
  const answer = await questions.text({
    message: `to do this, write the name of the cluster (${name}); an empty line leaves it`,
    fallback: '',
    check: (text) => (text === name || text === '' ? undefined : `its name is ${name}`),
  })
  if (answer === name) return true
  context.stderr.write('nothing was done\n')
  return exitCodes.changesPending
}
