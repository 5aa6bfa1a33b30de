import { Command } from 'commander'
import { toPrintable } from '../../kit/text.ts'
import {
  type CommandContext,
  type CommandGroup,
  isCommandGroup,
  type LeafCommand,
  type Subcommand,
} from './command.ts'
import { addSharedFlags } from './shared-flags.ts'

export const program = 'hyperkube'

/** A command with its full name, for example `etcd snapshot save`. */
export interface NamedCommand {
  readonly name: string
  readonly summary: string
  readonly definition: LeafCommand
}

/** Builds the commander command with its own and the shared flags. */
export function buildCommand(
  { name, summary, definition }: NamedCommand,
  { stdout, stderr }: Pick<CommandContext, 'stdout' | 'stderr'>,
): Command {
  const command = new Command(`${program} ${name}`)
    .description(`${summary}.`)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => write(toPrintable(text.replace(/^error: /, 'USAGE: '))),
    })
    .configureHelp({ sortOptions: false })
    .helpOption('-h, --help', 'print this help')
    .showHelpAfterError(`  → ${program} ${name} --help`)
    .exitOverride()
    .addHelpText('before', formatExamples(definition))
  definition.configure(command)
  return addSharedFlags(command, definition.sharedFlags)
}

/**
 * Builds a command only to read its flags and arguments. The command prints nothing, not even usage errors.
 */
export function buildSilentCommand(named: NamedCommand): Command {
  const output = { write: () => true }
  return buildCommand(named, { stdout: output, stderr: output })
}

function formatExamples(definition: Pick<LeafCommand, 'examples'>): string {
  return listExampleLines(definition)
    .map((line) => `  ${line}\n`)
    .join('')
}

/** Formats each example as a line: the command and, aligned, its explanation. */
export function listExampleLines({ examples }: Pick<LeafCommand, 'examples'>): string[] {
  const width = Math.max(0, ...examples.map(([command]) => command.length))
  return examples.map(([command, explanation]) => `${command.padEnd(width)}  # ${explanation}`)
}

/** Number of examples in the help of a group. */
const maxGroupExamples = 3

/** Formats the help of a group of subcommands. It begins with the first example of the first subcommands. */
export function formatGroupHelp(name: string, summary: string, { subcommands }: CommandGroup): string {
  const examples = subcommands
    .flatMap(({ definition }) => (isCommandGroup(definition) ? [] : definition.examples.slice(0, 1)))
    .slice(0, maxGroupExamples)
  return `${formatExamples({ examples })}
Usage: ${program} ${name} SUBCOMMAND [options]

${summary}.

Subcommands:
${formatRows(subcommands)}

${program} ${name} SUBCOMMAND --help explains a subcommand.
`
}

/** Formats the help text for a call without a command. */
export function formatOverview(commands: readonly Pick<Subcommand, 'name' | 'summary'>[]): string {
  return `Installs Kubernetes on a list of machines and manages its whole life cycle.

  ${program} init --host root@192.168.1.11=control-plane --host root@192.168.1.21=worker
  ${program} up

Commands:
${formatRows(commands)}

${program} COMMAND --help explains a command.
`
}

function formatRows(commands: readonly Pick<Subcommand, 'name' | 'summary'>[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')
}
