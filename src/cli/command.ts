import type { Command } from 'commander'
import type { BundleDisk } from '../bundle/disk.ts'
import type { Fetcher } from '../catalog/fetcher.ts'
import type { RegistryTransport } from '../catalog/registry/transport.ts'
import type { PrivateFiles } from '../identity/private-files.ts'
import type { AgentRelease } from '../lifecycle/agent-release.ts'
import type { Arch, Os } from '../catalog/artifact-target.ts'
import type { Prompts } from './prompts.ts'
import type { CommandLogStore } from './command-log.ts'

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
export interface CommandContext extends LocalFiles {
  /** Output for results only. */
  readonly stdout: Output
  /** Output for progress, warnings and prompts. */
  readonly stderr: Output
  /** Colours results, if stdout is a terminal and colours are wanted. */
  readonly paint: Paint
  /** Colours progress on stderr in the same way. */
  readonly paintProgress: Paint
  /** Size of the terminal on stderr; undefined if stderr cannot move the cursor. */
  readonly screen: Screen | undefined
  /**
   * Size of the terminal on stdout, for results that are redrawn; undefined if stdout cannot move the cursor.
   */
  readonly resultScreen: Screen | undefined
  /**
   * Calls `callback` at an interval until the returned function is called. The timer does not keep the process
   * alive.
   */
  readonly repeat: (milliseconds: number, callback: () => void) => () => void
  readonly commandLogs: CommandLogStore
  readonly fetcher: Fetcher
  readonly web: RegistryTransport
  readonly bundles: BundleDisk
  readonly now: () => Date
  readonly operator: Operator
  /** Finds the executable of this release for a kind of host. Throws if it does not exist. */
  readonly findRelease: (arch: Arch, os: Os) => Promise<AgentRelease>
  /** The operator's configuration directory. Throws if the operator has no home. */
  readonly configDirectory: () => string
  /** The operator's cache directory. Throws if the operator has no home. */
  readonly cacheDirectory: () => string
  /**
   * Opens prompts at the terminal; undefined without a terminal. Commands use `choosePrompts`, which also
   * considers the flags.
   */
  readonly openPrompts: ((signal: AbortSignal) => Prompts) | undefined
  /** Aborted by Ctrl-C and by --timeout. */
  readonly signal: AbortSignal
}

export interface Screen {
  /** The current size; it may change at any time. */
  size(): { readonly columns: number; readonly rows: number }
}

/** The person who runs the command. */
export interface Operator {
  readonly user: string
  readonly home: string
  /** The name of this machine. */
  readonly machine: string
  /** Path of the ssh agent's socket. */
  readonly sshAgent: string | undefined
}

export interface LocalFiles {
  readonly exists: (path: string) => Promise<boolean>
  readonly readFile: (path: string) => Promise<string>
  /** Names of the entries in a directory. */
  readonly listDirectory: (path: string) => Promise<readonly string[]>
  readonly createFile: (path: string, text: string, mode: number) => Promise<void>
  /** Creates or replaces a file atomically. */
  readonly replaceFile: (path: string, text: string, mode: number) => Promise<void>
  readonly privateFiles: PrivateFiles
  /** Creates the directory and its parents. Existing directories keep their mode. */
  readonly makePrivateDirectory: (path: string) => Promise<void>
}

export type Paint = (colour: 'green' | 'red' | 'yellow' | 'cyan' | 'bold' | 'dim', text: string) => string

export interface Output {
  write(text: string): unknown
}

/** One command: its flags, its arguments and its handler. The handler gets what commander has parsed. */
export interface CommandDefinition {
  /** Command lines with an explanation; help shows them first. */
  readonly examples: readonly (readonly [command: string, meaning: string])[]
  /** The command opens the cluster's identity, so it accepts --key. */
  readonly identity?: true
  /** The command acts on hosts, so it accepts --limit. */
  readonly hosts?: true
  configure(command: Command): void
  run(context: CommandContext, invocation: Invocation): Promise<ExitCode>
}

export interface Invocation {
  readonly args: readonly string[]
  readonly options: GlobalOptions & Readonly<Record<string, unknown>>
}

/** An entry of the command table. The definition is loaded only if the command is called. */
export interface CommandEntry {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** Services on hosts run this command, not operators: help does not list it. */
  readonly onHosts?: true
  readonly load: () => Promise<CommandDefinition>
}

/** Flags that mean the same in every command. */
export interface GlobalOptions {
  readonly file: string
  readonly output: OutputFormat
  readonly input: boolean
  readonly yes?: true
  readonly debug?: true
  /** Milliseconds. */
  readonly timeout?: number
  /** Host names; see `limitHosts`. */
  readonly limit?: readonly string[]
  /** Path of the identity's key file, if it is not the default. */
  readonly key?: string
}

export const outputFormats = ['table', 'wide', 'json', 'yaml'] as const
export type OutputFormat = (typeof outputFormats)[number]
