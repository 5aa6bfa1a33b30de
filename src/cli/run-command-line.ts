import { basename } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import { describe, HyperkubeError } from '../kit/errors.ts'
import { nearest } from '../kit/suggest.ts'
import { printable } from '../kit/printable.ts'
import {
  type CommandDefinition,
  type CommandEntry,
  type Context,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  outputFormats,
} from './command.ts'
import { commands, findCommand } from './command-table.ts'
import { timeoutFlag, withDeadline } from './deadline.ts'
import { overview } from './help.ts'
import { limitFlag } from './limit-hosts.ts'
import { Interrupted } from './prompts.ts'

const program = 'hyperkube'

/**
 * Runs what was typed. `called` is the name the program was called by: through a link named after a command, that
 * command runs.
 */
export async function runCommandLine(
  called: string,
  words: readonly string[],
  context: Context,
): Promise<ExitCode> {
  const linked = findCommand(basename(called).replace(/\.exe$/, ''))
  const choice = linked === undefined ? choose(words) : { entry: linked, rest: words }
  if (choice.entry === undefined) return withoutCommand(choice, context)
  try {
    return await runCommand(choice.entry, choice.rest, context)
  } catch (error) {
    if (context.signal.aborted || error instanceof Interrupted) return exitCodes.interrupted
    return report(error, words.includes('--debug'), context)
  }
}

interface Choice {
  readonly entry: CommandEntry | undefined
  /** All words but the command's name. */
  readonly rest: readonly string[]
  readonly unknown?: string
}

/** Finds the command among the words; global flags may stand before it. */
function choose(words: readonly string[]): Choice {
  const index = words.findIndex(
    (word, position) => !word.startsWith('-') && !takesValue.has(words[position - 1] ?? ''),
  )
  const name = words[index]
  if (name === undefined) return { entry: undefined, rest: words }
  const rest = words.toSpliced(index, 1)
  if (name === 'help') return help(rest)
  const entry = findCommand(name)
  return entry === undefined ? { entry, rest, unknown: name } : { entry, rest }
}

function help(rest: readonly string[]): Choice {
  const [name] = rest
  if (name === undefined) return { entry: undefined, rest }
  const entry = findCommand(name)
  return entry === undefined ? { entry, rest, unknown: name } : { entry, rest: ['--help'] }
}

const takesValue = new Set(['-f', '--file', '-o', '--output', '--key', '--limit', '--timeout'])

function withoutCommand({ unknown, rest }: Choice, { stdout, stderr }: Context): ExitCode {
  if (
    unknown === undefined &&
    (rest.length === 0 || rest.some((word) => word === '-h' || word === '--help'))
  ) {
    stdout.write(overview(program))
    return exitCodes.ok
  }
  const word = unknown ?? rest[0] ?? ''
  const known = commands.flatMap(({ name, aliases }) => [name, ...aliases])
  const meant = nearest(word, known)
  stderr.write(`USAGE: there is no command ${printable(word)}\n`)
  stderr.write(`  → ${meant === undefined ? `${program} --help` : `did you mean ${program} ${meant}?`}\n`)
  return exitCodes.usage
}

async function runCommand(
  entry: CommandEntry,
  words: readonly string[],
  context: Context,
): Promise<ExitCode> {
  const definition = await entry.load()
  const command = build(entry, definition, context)
  try {
    command.parse(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  }
  const options = command.opts<GlobalOptions>()
  return withDeadline(options.timeout, context.signal, async (signal) =>
    definition.run({ ...context, signal }, { args: command.args, options: { ...options } }),
  )
}

/** A command as commander knows it, with the flags that it shares with others. */
export function build(entry: CommandEntry, definition: CommandDefinition, context: Context): Command {
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
    .addHelpText('before', examples(definition))
  definition.configure(command)
  command.option('-f, --file <path>', 'the cluster’s file', 'cluster.yml')
  if (definition.identity) {
    command.option(
      '--key <file>',
      'the key of the cluster’s identity (default: ~/.config/hyperkube/keys/NAME.key)',
    )
  }
  if (definition.hosts) command.option('--limit <hosts>', 'act on these hosts only: cp1,w1', limitFlag)
  return command
    .addOption(
      new Option('-o, --output <format>', 'how to print results').choices(outputFormats).default('table'),
    )
    .option('--no-input', 'never ask; fail instead')
    .option('-y, --yes', 'answer every question with yes')
    .option('--timeout <duration>', 'give up after so long: 30s, 5m, 1h30m', timeoutFlag)
    .option('--debug', 'show where an unexpected error came from')
}

function examples({ examples: lines }: CommandDefinition): string {
  if (lines.length === 0) return ''
  const width = Math.max(...lines.map(([command]) => command.length))
  return `${lines.map(([command, meaning]) => `  ${command.padEnd(width)}  # ${meaning}`).join('\n')}\n`
}

function report(error: unknown, debug: boolean, { stderr }: Context): ExitCode {
  if (error instanceof HyperkubeError) {
    stderr.write(`${error.code}: ${printable(describe(error))}\n`)
    if (error.hint !== undefined) stderr.write(`  → ${printable(error.hint)}\n`)
    return exitCodes.failure
  }
  stderr.write(`UNEXPECTED: ${printable(describe(error))}\n`)
  stderr.write(
    '  → this is a mistake of ours; please report it with the output of the same command and --debug\n',
  )
  if (debug && error instanceof Error) stderr.write(`${error.stack}\n`)
  return exitCodes.failure
}
