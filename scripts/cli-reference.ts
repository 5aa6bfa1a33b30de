import type { Argument, Command, Option } from 'commander'
import type { CommandDefinition, CommandEntry } from '../src/cli/command/command.ts'
import { commandTable } from '../src/cli/command-table.ts'
import { buildCommand } from '../src/cli/run-command-line.ts'

/** Renders docs/reference/cli.md from the command table, so it lists exactly the existing commands and flags. */
export async function renderCliReference(): Promise<string> {
  const operatorCommands = commandTable.filter(({ onHosts }) => onHosts !== true)
  const sections = await Promise.all(operatorCommands.map(async (entry) => renderCommand(entry)))
  const globalFlags = await listGlobalFlags(operatorCommands)
  return `# Commands

Made by \`npm run reference\` from the command table in src/cli; do not edit. \`hyperkube COMMAND --help\` prints the same.

| command | what it does |
|---|---|
${operatorCommands.map(({ name, summary }) => `| [\`${name}\`](#${name}) | ${summary} |`).join('\n')}

## Flags of every command

${renderFlags(globalFlags)}
${sections.map((render) => render(new Set(globalFlags.map(({ flags }) => flags)))).join('\n')}`
}

/** Output that is never written. The context is needed only to build a command. */
const silent = { stdout: { write: () => true }, stderr: { write: () => true } } as const

async function build(entry: CommandEntry): Promise<readonly [CommandDefinition, Command]> {
  const definition = await entry.load()
  return [definition, buildCommand(entry, definition, silent)]
}

/** Returns the flags that all commands have in common. */
async function listGlobalFlags(entries: readonly CommandEntry[]): Promise<readonly Option[]> {
  const all = await Promise.all(entries.map(async (entry) => (await build(entry))[1].options))
  const [first = [], ...others] = all
  return first.filter(({ flags }) => others.every((options) => options.some((one) => one.flags === flags)))
}

async function renderCommand(entry: CommandEntry): Promise<(globalFlags: ReadonlySet<string>) => string> {
  const [{ examples }, command] = await build(entry)
  const width = Math.max(0, ...examples.map(([line]) => line.length))
  const lines = examples.map(([line, meaning]) => `${line.padEnd(width)}  # ${meaning}`)
  const args = command.registeredArguments.map(renderArgument)
  return (globalFlags) => {
    const own = command.options.filter(({ flags }) => !globalFlags.has(flags))
    return `## ${entry.name}

${entry.summary}.${entry.aliases.length === 0 ? '' : ` Also called \`${entry.aliases.join('`, `')}\`.`}

\`\`\`sh
${lines.join('\n')}
\`\`\`

${args.length === 0 ? '' : `| argument | |\n|---|---|\n${args.join('\n')}\n\n`}${own.length === 0 ? '' : `${renderFlags(own)}\n`}`
  }
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
