import { basename } from 'node:path'
import { CommanderError } from 'commander'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { suggestWord, toPrintable } from '../kit/text.ts'
import { buildCommand, formatGroupHelp, formatOverview, type NamedCommand, program } from './command/help.ts'
import { withCompleteSuggestions } from './command/complete-commands.ts'
import { formatTypedCommand } from './command/typed-command.ts'
import { commandTable, findCommand, operatorCommands } from './command-table.ts'
import { findReplacement } from './command/replaced-names.ts'
import {
  type CommandContext,
  type CommandEntry,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  isCommandGroup,
} from './command/command.ts'
import { withDeadline } from './command/deadline.ts'
import { Interrupted } from './command/prompts.ts'
import { findClusterFile, sharedFlagsWithValue } from './command/shared-flags.ts'

/**
 * Runs a command line. If the program was called through a link named after a command, it runs that command.
 */
export async function runCommandLine(
  programPath: string,
  args: readonly string[],
  plainContext: CommandContext,
): Promise<number> {
  const context = withCompleteSuggestions(plainContext, args)
  const choice = chooseLinked(basename(programPath).replace(/\.exe$/, ''), args) ?? chooseCommand(args)
  if (choice.entry === undefined) return reportNoCommand(choice, context)
  try {
    return await runEntry(choice.entry, choice.rest, context)
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
  if (entry !== undefined) return { entry, rest: entry.passesArguments === true ? ['--', ...rest] : rest }
  return findReplacement(name) === undefined ? undefined : { entry, rest, unknown: name }
}

/** Finds the command among the arguments; shared flags may come first. */
function chooseCommand(args: readonly string[]): CommandChoice {
  const { word: name, rest } = takeWord(args)
  if (name === undefined && args.includes('--version')) return chooseVersion(args)
  if (name === undefined) return { entry: undefined, rest: args }
  if (name === 'help') return chooseHelp(rest)
  const entry = findCommand(name)
  if (entry?.passesArguments === true) {
    const index = args.indexOf(name)
    return { entry, rest: [...args.slice(0, index), '--', ...args.slice(index + 1)] }
  }
  return entry === undefined ? { entry, rest, unknown: name } : { entry, rest }
}

/** Takes the first argument that is neither a flag nor the value of a shared flag. */
function takeWord(args: readonly string[]): {
  readonly word: string | undefined
  readonly rest: readonly string[]
} {
  const index = args.findIndex(
    (word, position) => !word.startsWith('-') && !sharedFlagsWithValue.has(args[position - 1] ?? ''),
  )
  return index === -1
    ? { word: undefined, rest: args }
    : { word: args[index], rest: args.toSpliced(index, 1) }
}

/** Treats the flag --version like the command `version`, because most programs have this flag. */
function chooseVersion(args: readonly string[]): CommandChoice {
  return { entry: findCommand('version'), rest: args.filter((word) => word !== '--version') }
}

function chooseHelp(rest: readonly string[]): CommandChoice {
  const [name, ...more] = rest
  if (name === undefined) return { entry: undefined, rest }
  const entry = findCommand(name)
  return entry === undefined ? { entry, rest, unknown: name } : { entry, rest: [...more, '--help'] }
}

function reportNoCommand({ unknown, rest }: CommandChoice, { stdout, stderr }: CommandContext): ExitCode {
  if (unknown === undefined && (rest.length === 0 || isHelpRequested(rest))) {
    stdout.write(formatOverview(operatorCommands()))
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

function isHelpRequested(args: readonly string[]): boolean {
  return args.some((word) => word === '-h' || word === '--help')
}

/** Runs a command of the table, or the subcommand that the arguments name. */
async function runEntry(
  { name: entryName, summary: entrySummary, runBy, load }: CommandEntry,
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  if (runBy !== 'service') await configureShortProcess()
  let [name, summary, definition, rest] = [entryName, entrySummary, await load(), args]
  while (isCommandGroup(definition)) {
    const { word, rest: others } = takeWord(rest)
    const subcommand = definition.subcommands.find((one) => one.name === word)
    if (subcommand === undefined && definition.own !== undefined)
      return runCommand({ name, summary, definition: definition.own }, rest, context)
    if (word === undefined && isHelpRequested(rest)) {
      context.stdout.write(formatGroupHelp(name, summary, definition))
      return exitCodes.ok
    }
    if (subcommand === undefined) {
      const names = definition.subcommands.map((one) => one.name)
      return reportNoSubcommand(name, word, names, context)
    }
    name = `${name} ${subcommand.name}`
    ;({ summary, definition } = subcommand)
    rest = others
  }
  return runCommand({ name, summary, definition }, rest, context)
}

/**
 * Makes zod interpret schemas instead of generating a parser at the first use of each schema. Generated
 * parsers are faster only in long-running processes. Must be called before a schema is created.
 */
async function configureShortProcess(): Promise<void> {
  const { config } = await import('zod')
  config({ jitless: true })
}

function reportNoSubcommand(
  group: string,
  word: string | undefined,
  names: readonly string[],
  { stderr }: CommandContext,
): ExitCode {
  const suggestion = word === undefined ? undefined : suggestWord(word, names)
  stderr.write(
    word === undefined
      ? `USAGE: ${program} ${group} needs a subcommand: ${names.join(', ')}\n`
      : `USAGE: ${program} ${group} has no subcommand ${toPrintable(word)}; use one of ${names.join(', ')}\n`,
  )
  stderr.write(
    `  → ${suggestion === undefined ? `${program} ${group} --help` : `did you mean ${program} ${group} ${suggestion}?`}\n`,
  )
  return exitCodes.usage
}

async function runCommand(
  named: NamedCommand,
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { name, definition } = named
  const command = buildCommand(named, context)
  try {
    command.parse(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  }
  const typed = command.opts<Partial<GlobalOptions>>()
  const { key } = context.environment
  const options: GlobalOptions = {
    output: 'table',
    input: true,
    ...(key === undefined ? {} : { key }),
    ...typed,
    file: typed.file ?? (await findClusterFile(definition.sharedFlags, context.environment, context)),
  }
  return withDeadline(options.timeout, context.signal, async (signal) =>
    definition.run(
      { ...context, signal, typedCommand: formatTypedCommand([...name.split(' '), ...args]) },
      { args: command.args, options: { ...options } },
    ),
  )
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
  stderr.write('  → this is a bug in hyperkube; run the same command with --debug and report its output\n')
  if (debug && error instanceof Error) stderr.write(`${error.stack}\n`)
  return exitCodes.failure
}
