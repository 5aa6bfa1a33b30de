import type { Command } from 'commander'
import type { ClusterFiles, WorkspaceContext } from '../../workspace/context.ts'
import type { Prompts } from './prompts.ts'
import type { Event } from '../../contract/event.ts'
import type { Argv } from '../../kit/command.ts'
import type { Channel } from '../../ssh/transport.ts'

/** Exit codes of commands. Documented in docs/reference/exit-codes.md. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  changesPending: 3,
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** All inputs and outputs of a command. A command must not read or write anything else. */
export interface CommandContext extends WorkspaceContext {
  /** Output for results only. */
  readonly stdout: Output
  /** Output for progress, warnings and prompts. */
  readonly stderr: Output
  /** Colours results, if stdout is a terminal and colours are wanted. */
  readonly paint: Paint
  /** Colours progress, if stderr is a terminal and colours are wanted. */
  readonly paintProgress: Paint
  /** Size of the terminal on stderr; undefined if stderr cannot move the cursor. */
  readonly screen: Screen | undefined
  /**
   * Size of the terminal on stdout, for results that are redrawn; undefined if stdout cannot move the cursor.
   */
  readonly resultScreen: Screen | undefined
  /**
   * Calls `callback` at an interval until the returned function is called. The timer does not keep the
   * process alive.
   */
  readonly repeat: (milliseconds: number, callback: () => void) => () => void
  readonly commandLogs: CommandLogStore
  /** Runs a program with the terminal of this process until it exits, and returns its exit code. */
  readonly runForeground: (argv: Argv, env: Readonly<Record<string, string>>) => Promise<number>
  /** Starts this program again, with other arguments; undefined if hyperkube runs from its sources. */
  readonly startHelper: StartHelper | undefined
  /** Number of processors of this machine. */
  readonly processors: number
  /** The operator's state directory. Throws if the operator has no home directory. */
  readonly stateDirectory: () => string
  /** Returns the public key of releases; undefined if this program is not of a signed release. */
  readonly readReleaseKey: () => Promise<string | undefined>
  readonly environment: CommandEnvironment
  /** The typed command without flags such as --yes, for messages that suggest to run it again. */
  readonly typedCommand?: string
  /**
   * Opens prompts at the terminal; undefined without a terminal. Commands use `choosePrompts`, which also
   * considers the flags.
   */
  readonly openPrompts: ((signal: AbortSignal) => Prompts) | undefined
}

/** Input and output of another process of this program. */
export type HelperProcess = Pick<Channel, 'stdin' | 'stdout' | 'stderr' | 'kill'>
export type StartHelper = (args: readonly string[]) => HelperProcess

/** Settings of the process that replace flags. */
export interface CommandEnvironment {
  readonly workingDirectory: string
  /** Value of HYPERKUBE_FILE. */
  readonly file: string | undefined
  /** Value of HYPERKUBE_KEY_FILE. */
  readonly key: string | undefined
  /** Value of KUBECONFIG. */
  readonly kubeconfig: string | undefined
}

/**
 * File with all events of one call of a command. The command continues if the file cannot be created or
 * written.
 */
export interface CommandLog {
  /** Path of the file; undefined if it could not be created. */
  readonly path: string | undefined
  /** Why the file could not be created. */
  readonly problem: string | undefined
  readonly onEvent: (event: Event) => void
  readonly close: () => void
}

export interface CommandLogStore {
  open(cluster: string, command: string, now: Date): CommandLog
  /** Names of the logs of a cluster, oldest first. */
  list(cluster: string): readonly string[]
  /** Text of a log: one event per line. */
  read(cluster: string, name: string): string
}

export interface Screen {
  /** The current size; it may change at any time. */
  size(): { readonly columns: number; readonly rows: number }
}

export type Paint = (colour: 'green' | 'red' | 'yellow' | 'cyan' | 'bold' | 'dim', text: string) => string

export interface Output {
  write(text: string): unknown
}

/** A command, or a group of subcommands. */
export type CommandDefinition = LeafCommand | CommandGroup

/** One command: its flags, its arguments and its handler. The handler gets what commander has parsed. */
export interface LeafCommand {
  /** Command lines with an explanation; help shows them first. */
  readonly examples: readonly (readonly [command: string, meaning: string])[]
  /** Flags that this command shares with others. */
  readonly sharedFlags: readonly SharedFlag[]
  configure(command: Command): void
  /** Returns the exit code: one of `exitCodes`, or that of a program which the command has run. */
  run(context: CommandContext, invocation: Invocation): Promise<number>
}

/** A command with subcommands, such as `etcd snapshot`. */
export interface CommandGroup {
  readonly subcommands: readonly Subcommand[]
  /** Command that runs if the arguments name no subcommand. Without it, a subcommand is required. */
  readonly own?: LeafCommand
}

export interface Subcommand {
  readonly name: string
  readonly summary: string
  readonly definition: CommandDefinition
}

export function isCommandGroup(definition: CommandDefinition): definition is CommandGroup {
  return 'subcommands' in definition
}

/**
 * Flags that several commands share. `file` is --file with its short form -f. `long-file` is --file without a
 * short form. `new-file` is --file of a command that creates the file. `fleet-file` is --file for fleet.yml.
 * `any-file` is --file for fleet.yml or cluster.yml. `html-output` is --output that also
 * accepts html. `confirm` is --yes and --no-input. The other names are the names of the flags.
 */
export type SharedFlag =
  | 'file'
  | 'long-file'
  | 'new-file'
  | 'fleet-file'
  | 'any-file'
  | 'key'
  | 'limit'
  | 'output'
  | 'html-output'
  | 'confirm'

export interface Invocation {
  readonly args: readonly string[]
  readonly options: GlobalOptions & Readonly<Record<string, unknown>>
}

/** An entry of the command table. The definition is loaded only if the command is called. */
export interface CommandEntry {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /**
   * Set if a service or a shell runs this command, and not an operator. Help does not list such a command.
   */
  readonly runBy?: 'service' | 'shell'
  /** True if all arguments after the name belong to another program. */
  readonly passesArguments?: true
  readonly load: () => Promise<CommandDefinition>
}

/** Values of the flags that mean the same in every command. Flags that a command lacks have their default. */
export interface GlobalOptions extends ClusterFiles {
  readonly output: OutputFormat
  readonly input: boolean
  readonly yes?: true
  readonly debug?: true
  /** True if every event of hosts is printed, one per line. */
  readonly verbose?: true
  /** True if no progress is printed. */
  readonly quiet?: true
  /** Value of --timeout in milliseconds. */
  readonly timeout?: number
  /** Names of the hosts in --limit. */
  readonly limit?: readonly string[]
}

export const outputFormats = ['table', 'wide', 'json', 'yaml'] as const
/** Formats of `-o`. Only commands with the shared flag `html-output` accept html. */
export type OutputFormat = (typeof outputFormats)[number] | 'html'
