import { HyperkubeError } from '../../kit/errors.ts'
import type { CommandContext, Invocation, LeafCommand, Output } from '../command/command.ts'
import { noPaint } from '../text/no-paint.ts'

/**
 * Runs a command that reads, and returns the document that it prints with `-o json`. The command never
 * prompts. Its exit code is not needed, because the document contains all problems.
 */
export async function readCommandDocument(
  context: CommandContext,
  command: LeafCommand,
  options: Pick<Invocation['options'], 'file' | 'key'>,
): Promise<unknown> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  await command.run(createSilentContext(context, collect(stdout), collect(stderr)), {
    args: [],
    options: { ...options, output: 'json', input: false, quiet: true },
  })
  const text = stdout.join('')
  if (text !== '') return JSON.parse(text)
  throw new HyperkubeError('UI_VIEW_EMPTY', stderr.join('').trim(), {
    hint: `hyperkube validate -f ${options.file}`,
  })
}

function collect(parts: string[]): Output {
  return { write: (part) => parts.push(part) }
}

/** Returns a context that writes nothing to the terminal and never prompts. */
export function createSilentContext(context: CommandContext, stdout: Output, stderr: Output): CommandContext {
  return {
    ...context,
    ...{ stdout, stderr },
    paint: noPaint,
    paintProgress: noPaint,
    screen: undefined,
    resultScreen: undefined,
    openPrompts: undefined,
  }
}
