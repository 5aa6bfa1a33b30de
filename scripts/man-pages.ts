import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Argument, Option } from 'commander'
import packageFile from '../package.json' with { type: 'json' }
import { buildSilentCommand, type NamedCommand } from '../src/cli/command/help.ts'
import { listOperatorCommands, operatorCommands } from '../src/cli/command-table.ts'

/** Renders a manual page of each command, and one that lists all commands. Keys are file names. */
export async function renderManPages(): Promise<ReadonlyMap<string, string>> {
  const commands = await listOperatorCommands()
  const pages = commands.map((named) => [buildPageName(named.name), renderPage(named)] as const)
  return new Map([['hyperkube.1', renderOverview(commands)], ...pages])
}

function buildPageName(command: string): string {
  return `hyperkube-${command.replaceAll(' ', '-')}.1`
}

function renderOverview(commands: readonly NamedCommand[]): string {
  const entries = operatorCommands().flatMap(({ name, summary }) => [
    '.TP',
    `.B ${escapeText(name)}`,
    escapeText(summary),
  ])
  const references = commands.map(
    ({ name }, index) =>
      `.BR ${escapeText(buildPageName(name).slice(0, -2))} (1)${index < commands.length - 1 ? ',' : ''}`,
  )
  return joinLines([
    renderTitle('hyperkube'),
    '.SH NAME',
    String.raw`hyperkube \- install Kubernetes on a list of machines and manage its whole life cycle`,
    '.SH SYNOPSIS',
    String.raw`.B hyperkube\fR COMMAND [SUBCOMMAND] [options]`,
    '.SH COMMANDS',
    ...entries,
    '.SH SEE ALSO',
    ...references,
  ])
}

function renderPage(named: NamedCommand): string {
  const { name, summary, definition } = named
  const command = buildSilentCommand(named)
  const options = command.options.flatMap(renderOption)
  const args = command.registeredArguments.flatMap(renderArgument)
  const examples = definition.examples.flatMap(([line, meaning]) => [
    '.TP',
    `.B ${escapeText(line)}`,
    escapeText(meaning),
  ])
  return joinLines([
    renderTitle(`hyperkube-${name.replaceAll(' ', '-')}`),
    '.SH NAME',
    // whatis and apropos read this line, so the line must begin with the name of the page.
    String.raw`${escapeText(buildPageName(name).slice(0, -2))} \- ${escapeText(summary)}`,
    '.SH SYNOPSIS',
    String.raw`.B hyperkube ${escapeText(name)}\fR ${escapeText(command.usage())}`,
    '.SH EXAMPLES',
    ...examples,
    ...(args.length === 0 ? [] : ['.SH ARGUMENTS', ...args]),
    '.SH OPTIONS',
    ...options,
    '.SH EXIT STATUS',
    '0 success, 1 failure, 2 wrong usage, 3 changes are pending, 130 interrupted.',
    '.SH SEE ALSO',
    '.BR hyperkube (1)',
  ])
}

function renderOption({ flags, description, argChoices }: Option): string[] {
  return ['.TP', `.B ${escapeText(flags)}`, escapeText(`${description}${renderChoices(argChoices)}`)]
}

function renderArgument(argument: Argument): string[] {
  const text = `${argument.description}${renderChoices(argument.argChoices)}`
  return ['.TP', `.I ${escapeText(argument.name())}`, escapeText(text)]
}

function renderChoices(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : ` (one of: ${choices.join(', ')})`
}

function renderTitle(name: string): string {
  const title = name.toUpperCase().replaceAll('-', String.raw`\-`)
  // Without hyphenation and justification, names of commands and files stay searchable.
  return `.TH ${title} 1 "" "hyperkube ${packageFile.version}"\n.nh\n.ad l`
}

/** Escapes text for roff: backslashes, hyphens, and a dot or an apostrophe at the start of a line. */
export function escapeText(text: string): string {
  return text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replace(/^(?=[.'])/, String.raw`\&`)
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

/** Writes all pages into a directory: `npm run man -- DIRECTORY`. */
async function main(directory = 'dist/man'): Promise<void> {
  await mkdir(directory, { recursive: true })
  const pages = await renderManPages()
  for (const [name, text] of pages) await writeFile(join(directory, name), text)
  process.stdout.write(`${pages.size} pages in ${directory}\n`)
}

if (import.meta.main) await main(process.argv[2])
