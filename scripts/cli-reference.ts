import type { Argument, Command, Option } from 'commander'
import type { CommandDefinition, CommandEntry } from '../src/cli/command/command.ts'
import { commandTable } from '../src/cli/command-table.ts'
import { buildCommand, listExampleLines } from '../src/cli/run-command-line.ts'

/** Renders docs/reference/cli.md from the command table, so it lists exactly the existing commands and flags. */
export async function renderCliReference(): Promise<string> {
  const entries = commandTable.filter(({ onHosts }) => onHosts !== true)
  const commands = await Promise.all(entries.map(async (entry) => buildFromTable(entry)))
  const globalFlags = findGlobalFlags(commands)
  const globalNames = new Set(globalFlags.map(({ flags }) => flags))
  return `# Commands

Made by \`npm run reference\` from the command table in src/cli; do not edit. \`hyperkube COMMAND --help\` prints the same.

| command | what it does |
|---|---|
${entries.map(({ name, summary }) => `| [\`${name}\`](#${name}) | ${summary} |`).join('\n')}

## Flags of every command

${renderFlags(globalFlags)}
${commands.map((command) => renderCommand(command, globalNames)).join('\n')}`
}

interface BuiltCommand {
  readonly entry: CommandEntry
  readonly definition: CommandDefinition
  readonly command: Command
}

/** Output that is never written. The context is needed only to build a command. */
const silent = { stdout: { write: () => true }, stderr: { write: () => true } } as const

async function buildFromTable(entry: CommandEntry): Promise<BuiltCommand> {
  const definition = await entry.load()
  return { entry, definition, command: buildCommand(entry, definition, silent) }
}

/** Finds the flags that all commands have in common. */
function findGlobalFlags([first, ...others]: readonly BuiltCommand[]): readonly Option[] {
  return (first?.command.options ?? []).filter(({ flags }) =>
    others.every(({ command }) => command.options.some((one) => one.flags === flags)),
  )
}

function renderCommand(
  { entry, definition, command }: BuiltCommand,
  globalFlags: ReadonlySet<string>,
): string {
  const args = command.registeredArguments.map(renderArgument)
  const own = command.options.filter(({ flags }) => !globalFlags.has(flags))
  return `## ${entry.name}

${entry.summary}.${entry.aliases.length === 0 ? '' : ` Also called \`${entry.aliases.join('`, `')}\`.`}

\`\`\`sh
${listExampleLines(definition).join('\n')}
\`\`\`

${args.length === 0 ? '' : `| argument | |\n|---|---|\n${args.join('\n')}\n\n`}${own.length === 0 ? '' : `${renderFlags(own)}\n`}`
}

function renderArgument(argument: Argument): string {
  const { required, argChoices, description } = argument
  const title = required ? `<${argument.name()}>` : `[${argument.name()}]`
  const choices =
    argChoices === undefined ? '' : `: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`
  return `| \`${title}\` | ${escapeCell(`${description}${choices}`)} |`
}

function renderFlags(options: readonly Option[]): string {
  const rows = options.map(({ flags, description, defaultValue, argChoices }) => {
    const choices =
      argChoices === undefined ? '' : `; one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`
    const fallback = typeof defaultValue === 'string' ? `; default \`${defaultValue}\`` : ''
    return `| \`${flags}\` | ${escapeCell(`${description}${choices}${fallback}`)} |`
  })
  return `| flag | |\n|---|---|\n${rows.join('\n')}\n`
}

function escapeCell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}
