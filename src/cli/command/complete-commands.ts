import { stripVTControlCharacters } from 'node:util'
import { quoteShellIfNeeded } from '../../kit/text.ts'
import type { CommandContext, Output } from './command.ts'
import { formatTypedCommand, listClusterFlags } from './typed-command.ts'

/** Commands that do not read cluster.yml, so a suggestion of them needs no --file. */
export const commandsWithoutFile: readonly string[] = [
  'agent',
  'bundle verify',
  'completion',
  'controller-manager',
  'etcd snapshot unpack',
  'explain',
  'facts',
  'fleet',
  'help',
  'schema',
  'version',
]

/** Matches the beginning of a command that reads cluster.yml. */
const commandWithFile = new RegExp(
  String.raw`(?<![\w/-])hyperkube (?!(?:${commandsWithoutFile.join('|')})\b)(?=[a-z])`,
  'g',
)

/** Matches the beginning of a command that reads fleet.yml. */
const fleetCommand = /(?<![\w/-])hyperkube (?=fleet\b)/g

/** Matches lines with a suggestion: hints, which begin with an arrow, and the line `action` of doctor. */
const suggestionLine = /^\s*(?:\u2192|action\b)/

/**
 * Adds --file to the commands that a text suggests. Without the flag, a copied command would change another
 * cluster if there is a cluster.yml in the working directory. Lines that already name a file are not changed.
 */
export function completeSuggestions(text: string, fileFlag: string, command = commandWithFile): string {
  return text
    .split('\n')
    .map((line) =>
      suggestionLine.test(stripVTControlCharacters(line)) && !/\s(?:-f|--file)\s/.test(line)
        ? line.replaceAll(command, `hyperkube ${fileFlag} `)
        : line,
    )
    .join('\n')
}

/** Adds --file to the commands in a text that is one suggestion, such as a hint in a document. */
export function completeHint(text: string, file: string): string {
  if (file === 'cluster.yml' || /\s(?:-f|--file)\s/.test(text)) return text
  return text.replaceAll(commandWithFile, `hyperkube --file ${quoteShellIfNeeded(file)} `)
}

/** Returns a context whose outputs complete the suggested commands, if the typed command names a file. */
export function withCompleteSuggestions<Context extends Pick<CommandContext, 'stdout' | 'stderr'>>(
  context: Context,
  args: readonly string[],
): Context {
  // The command logs has another flag -f, so only the long form counts there, and it is what is suggested.
  const isFileFlag = args.includes('logs') ? /^--file/ : /^(?:-f|--file)/
  const flag = listClusterFlags(` ${formatTypedCommand(args)}`).find((one) => isFileFlag.test(one))
  const fileFlag = flag?.replace(/^-f\b/, '--file')
  // Without a flag, a command reads cluster.yml, too.
  if (fileFlag === undefined || /[\s=]cluster\.yml$/.test(fileFlag)) return context
  // The file of a fleet command is fleet.yml, which only fleet commands accept.
  const command = args.includes('fleet') ? fleetCommand : commandWithFile
  const complete = (output: Output): Output => ({
    write: (text) => output.write(completeSuggestions(text, fileFlag, command)),
  })
  return { ...context, stderr: complete(context.stderr), stdout: complete(context.stdout) }
}
