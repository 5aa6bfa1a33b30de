import type { Argument, Command, Option } from 'commander'
import type { CommandEntry } from '../src/cli/command/command.ts'
import { buildSilentCommand, listExampleLines, type NamedCommand } from '../src/cli/command/help.ts'
import { listOperatorCommands, operatorCommands } from '../src/cli/command-table.ts'

/**
 * Renders docs/reference/cli.md from the command table, so the page lists exactly the existing commands and
 * flags.
 */
export async function renderCliReference(): Promise<string> {
  const entries = operatorCommands()
  const commands = (await listOperatorCommands()).map((named) => ({
    named,
    command: buildSilentCommand(named),
  }))
  const globalFlags = findGlobalFlags(commands)
  const globalNames = new Set(globalFlags.map(({ flags }) => flags))
  return `# Commands

Made by \`npm run reference\` from the command table in src/cli; do not edit. \`hyperkube COMMAND --help\` prints the same.

| command | what it does |
|---|---|
${entries.map((entry) => renderRow(entry, commands)).join('\n')}

## Flags of every command

${renderFlags(globalFlags)}
${commands.map((command) => renderCommand(command, globalNames)).join('\n')}`
}

function renderRow({ name, aliases, summary }: CommandEntry, commands: readonly BuiltCommand[]): string {
  const aliasText = aliases.length === 0 ? '' : `, \`${aliases.join('`, `')}\``
  return `| [\`${name}\`](#${findAnchor(name, commands)})${aliasText} | ${summary} |`
}

/** Returns the anchor of the first section of a command or of its subcommands. */
function findAnchor(name: string, commands: readonly BuiltCommand[]): string {
  const first = commands.find(({ named }) => named.name === name || named.name.startsWith(`${name} `))
  return (first?.named.name ?? name).replaceAll(' ', '-')
}

interface BuiltCommand {
  readonly named: NamedCommand
  readonly command: Command
}

/** Finds the flags that all commands have in common. */
function findGlobalFlags([first, ...others]: readonly BuiltCommand[]): readonly Option[] {
  return (first?.command.options ?? []).filter(({ flags }) =>
    others.every(({ command }) => command.options.some((one) => one.flags === flags)),
  )
}

function renderCommand(
  { named: { name, summary, definition }, command }: BuiltCommand,
  globalFlags: ReadonlySet<string>,
): string {
  const args = command.registeredArguments.map(renderArgument)
  const own = command.options.filter(({ flags }) => !globalFlags.has(flags))
  return `## ${name}

${summary}.

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
