import { basename } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { suggestWord, toPrintable } from '../kit/text.ts'
import { parseLimitFlag } from './command/run-flags.ts'
import { formatTypedCommand } from './command/typed-command.ts'
import { commandTable, findCommand } from './command-table.ts'
import { findReplacement } from './command/replaced-names.ts'
import {
  type CommandContext,
  type CommandDefinition,
  type CommandEntry,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  outputFormats,
} from './command/command.ts'
import { parseTimeoutFlag, withDeadline } from './command/deadline.ts'
import { Interrupted } from './command/prompts.ts'

const program = 'hyperkube'

/**
 * Runs a command line. If the program was called through a link named after a command, it runs that command.
 */
export async function runCommandLine(
  programPath: string,
  args: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const choice = chooseLinked(basename(programPath).replace(/\.exe$/, ''), args) ?? chooseCommand(args)
  if (choice.entry === undefined) return reportNoCommand(choice, context)
  try {
    return await runCommand(choice.entry, choice.rest, context)
  } catch (error) {
    if (context.signal.aborted || error instanceof Interrupted) return exitCodes.interrupted
    return reportError(error, args.includes('--debug'), context)
  }
}

interface CommandChoice {
  readonly entry: CommandEntry | undefined
  /** All arguments except the command's name. */
  readonly rest: readonly string[]
  readonly unknown?: string
}

/** Finds the command by the name of the link through which the program was called. */
function chooseLinked(name: string, rest: readonly string[]): CommandChoice | undefined {
  const entry = findCommand(name)
  if (entry !== undefined) return { entry, rest }
  return findReplacement(name) === undefined ? undefined : { entry, rest, unknown: name }
}

/** Finds the command among the arguments; global flags may come first. */
function chooseCommand(args: readonly string[]): CommandChoice {
  const index = args.findIndex(
    (word, position) => !word.startsWith('-') && !flagsWithValue.has(args[position - 1] ?? ''),
  )
  const name = args[index]
  if (name === undefined && args.includes('--version')) return chooseVersion(args)
  if (name === undefined) return { entry: undefined, rest: args }
  const rest = args.toSpliced(index, 1)
  if (name === 'help') return chooseHelp(rest)
  const entry = findCommand(name)
  return entry === undefined ? { entry, rest, unknown: name } : { entry, rest }
}

/** Treats the flag --version like the command `version`, because most programs have this flag. */
function chooseVersion(args: readonly string[]): CommandChoice {
  return { entry: findCommand('version'), rest: args.filter((word) => word !== '--version') }
}

function chooseHelp(rest: readonly string[]): CommandChoice {
  const [name] = rest
  if (name === undefined) return { entry: undefined, rest }
  const entry = findCommand(name)
  return entry === undefined ? { entry, rest, unknown: name } : { entry, rest: ['--help'] }
}

const flagsWithValue = new Set(['-f', '--file', '-o', '--output', '--key', '--limit', '--timeout'])

function reportNoCommand({ unknown, rest }: CommandChoice, { stdout, stderr }: CommandContext): ExitCode {
  if (
    unknown === undefined &&
    (rest.length === 0 || rest.some((word) => word === '-h' || word === '--help'))
  ) {
    stdout.write(formatOverview())
    return exitCodes.ok
  }
  const word = unknown ?? rest[0] ?? ''
  const known = commandTable.flatMap(({ name, aliases }) => [name, ...aliases])
  const suggestion = suggestWord(word, known)
  const hint =
    findReplacement(word) ??
    (suggestion === undefined ? `${program} --help` : `did you mean ${program} ${suggestion}?`)
  stderr.write(`USAGE: there is no command ${toPrintable(word)}\n`)
  stderr.write(`  → ${hint}\n`)
  return exitCodes.usage
}

async function runCommand(
  entry: CommandEntry,
  args: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const definition = await entry.load()
  const command = buildCommand(entry, definition, context)
  try {
    command.parse(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  }
  const options = command.opts<GlobalOptions>()
  return withDeadline(options.timeout, context.signal, async (signal) =>
    definition.run(
      { ...context, signal, typedCommand: formatTypedCommand([entry.name, ...args]) },
      { args: command.args, options: { ...options } },
    ),
  )
}

/** Builds the commander command with its own and the global flags. */
export function buildCommand(
  entry: CommandEntry,
  definition: CommandDefinition,
  context: Pick<CommandContext, 'stdout' | 'stderr'>,
): Command {
  const command = new Command(`${program} ${entry.name}`)
    .description(entry.summary)
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'USAGE: ')),
    })
    .configureHelp({ sortOptions: false })
    .showHelpAfterError(`  → ${program} ${entry.name} --help`)
    .exitOverride()
    .addHelpText('before', formatExamples(definition))
  definition.configure(command)
  command.option('-f, --file <path>', 'path of cluster.yml', 'cluster.yml')
  if (definition.identity) {
    command.option(
      '--key <file>',
      'key file of the cluster identity (default: ~/.config/hyperkube/keys/NAME.key)',
    )
  }
  if (definition.hosts)
    command.option(
      '--limit <hosts>',
      'limit the command to these hosts: cp1,w1 (default: all)',
      parseLimitFlag,
    )
  return command
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats).default('table'))
    .option('--no-input', 'never prompt; fail instead')
    .option('-y, --yes', 'confirm all changes without a prompt')
    .option(
      '--timeout <duration>',
      'abort after this duration: 30s, 5m, 1h30m (default: none)',
      parseTimeoutFlag,
    )
    .option('--debug', 'print stack traces of unexpected errors')
}

function formatExamples(definition: CommandDefinition): string {
  return listExampleLines(definition)
    .map((line) => `  ${line}\n`)
    .join('')
}

/** Formats each example as a line: the command and, aligned, its explanation. */
export function listExampleLines({ examples }: Pick<CommandDefinition, 'examples'>): string[] {
  const width = Math.max(0, ...examples.map(([command]) => command.length))
  return examples.map(([command, explanation]) => `${command.padEnd(width)}  # ${explanation}`)
}

/**
 * Codes of errors in the command line itself. A command that fails with one of these codes returns the exit
 * code for usage errors.
 */
const usageCodes: ReadonlySet<string> = new Set(['LIMIT_UNKNOWN_HOST'])

function reportError(error: unknown, debug: boolean, { stderr }: CommandContext): ExitCode {
  if (error instanceof HyperkubeError) {
    const isUsage = usageCodes.has(error.code)
    stderr.write(`${error.code}: ${toPrintable(formatError(error))}\n`)
    if (error.hint !== undefined) stderr.write(`  → ${toPrintable(error.hint)}\n`)
    return isUsage ? exitCodes.usage : exitCodes.failure
  }
  stderr.write(`UNEXPECTED: ${toPrintable(formatError(error))}\n`)
  stderr.write(
    '  → this is a mistake of ours; please report it with the output of the same command and --debug\n',
  )
  if (debug && error instanceof Error) stderr.write(`${error.stack}\n`)
  return exitCodes.failure
}

/** Formats the help text for a call without a command. */
function formatOverview(): string {
  const visible = commandTable.filter(({ onHosts }) => onHosts !== true)
  const width = Math.max(...visible.map(({ name }) => name.length))
  const rows = visible.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Installs Kubernetes on a list of machines and manages its whole life cycle.

  ${program} init --host root@192.168.1.11=control-plane --host root@192.168.1.21=worker
  ${program} validate

Commands:
${rows.join('\n')}

${program} COMMAND --help explains a command.
`
}
