import type { Command } from 'commander'
import type { BundleDisk } from '../bundle/disk.ts'
import type { Fetcher } from '../catalog/fetcher.ts'
import type { Web } from '../catalog/registry/transport.ts'
import type { PrivateFiles } from '../identity/private-files.ts'
import type { OwnRelease } from '../lifecycle/agent-install.ts'
import type { Arch, Os } from '../catalog/artifact-target.ts'
import type { Questions } from './prompts.ts'
import type { RunLogs } from './command-log.ts'

/** What a command ends with. Documented in docs/reference/exit-codes.md. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  changesPending: 3,
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The world as a command sees it: all that it reads and writes comes in here. */
export interface Context extends Files {
  /** Results go here, and nothing else does. */
  readonly stdout: Output
  /** Progress, warnings and questions go here. */
  readonly stderr: Output
  /** Puts colour into results, where somebody looks at them and wants it. */
  readonly paint: Paint
  /** The same for what goes to stderr. */
  readonly paintProgress: Paint
  /** Where stderr is a terminal on which one can move; undefined elsewhere. */
  readonly screen: Screen | undefined
  /** The same for stdout, where what is shown may be drawn anew. */
  readonly resultScreen: Screen | undefined
  /** Does something again and again, until it is stopped. It keeps no process alive. */
  readonly every: (milliseconds: number, act: () => void) => () => void
  readonly runLogs: RunLogs
  readonly fetcher: Fetcher
  readonly web: Web
  readonly bundles: BundleDisk
  readonly now: () => Date
  readonly operator: Operator
  /** The executable of this very release, for a kind of host. Throws where there is none. */
  readonly release: (arch: Arch, os: Os) => Promise<OwnRelease>
  /** Where programs of this person keep what they must remember. Throws where there is no such place. */
  readonly configDirectory: () => string
  /** Where they keep what they can have again. Throws where there is no such place. */
  readonly cacheDirectory: () => string
  /** How to ask the person at the terminal; undefined when there is none. `whomToAsk` also heeds the flags. */
  readonly questions: ((signal: AbortSignal) => Questions) | undefined
  /** Aborted when the person at the keyboard has had enough, or --timeout is over. */
  readonly signal: AbortSignal
}

export interface Screen {
  /** As it is now: people make it larger and smaller. */
  size(): { readonly columns: number; readonly rows: number }
}

/** Who types. */
export interface Operator {
  readonly user: string
  readonly home: string
  /** What this machine is called. */
  readonly machine: string
  /** The socket of the ssh agent. */
  readonly sshAgent: string | undefined
}

export interface Files {
  readonly exists: (path: string) => Promise<boolean>
  readonly readFile: (path: string) => Promise<string>
  /** The names of what is in a directory. */
  readonly listDirectory: (path: string) => Promise<readonly string[]>
  readonly createFile: (path: string, text: string, mode: number) => Promise<void>
  /** Puts a file in the place of one that may be there, as a whole or not at all. */
  readonly replaceFile: (path: string, text: string, mode: number) => Promise<void>
  readonly privateFiles: PrivateFiles
  /** With all that lead to it. Those that are there stay as they are. */
  readonly makePrivateDirectory: (path: string) => Promise<void>
}

export type Paint = (colour: 'green' | 'red' | 'yellow' | 'cyan' | 'bold' | 'dim', text: string) => string

export interface Output {
  write(text: string): unknown
}

/** One command: its flags and arguments, and what it does. The handler gets what commander made of them. */
export interface CommandDefinition {
  /** Each a line to type, with what it does; help starts with them. */
  readonly examples: readonly (readonly [command: string, meaning: string])[]
  /** It opens the cluster's identity, and so takes --key. */
  readonly identity?: true
  /** It acts on hosts, and so takes --limit. */
  readonly hosts?: true
  configure(command: Command): void
  run(context: Context, invocation: Invocation): Promise<ExitCode>
}

export interface Invocation {
  readonly args: readonly string[]
  readonly options: GlobalOptions & Readonly<Record<string, unknown>>
}

/** A row of the command table. The definition is loaded only when the command is called. */
export interface CommandEntry {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** It is run by services on hosts, not by people: help does not list it. */
  readonly onHosts?: true
  readonly load: () => Promise<CommandDefinition>
}

/** Flags that mean the same in every command that takes them. */
export interface GlobalOptions {
  readonly file: string
  readonly output: OutputFormat
  readonly input: boolean
  readonly yes?: true
  readonly debug?: true
  /** Milliseconds. */
  readonly timeout?: number
  /** Names of hosts; for `limitHosts`. */
  readonly limit?: readonly string[]
  /** The key file of the cluster's identity, where it is not in its usual place. */
  readonly key?: string
}

export const outputFormats = ['table', 'wide', 'json', 'yaml'] as const
export type OutputFormat = (typeof outputFormats)[number]
