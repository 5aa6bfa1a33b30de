import type { Command } from 'commander'
import type { Fetcher } from '../catalog/fetcher.ts'

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
export interface Context {
  /** Results go here, and nothing else does. */
  readonly stdout: Output
  /** Progress, warnings and questions go here. */
  readonly stderr: Output
  readonly readFile: (path: string) => Promise<string>
  readonly createFile: (path: string, text: string, mode: number) => Promise<void>
  /** Puts a file in the place of one that may be there, as a whole or not at all. */
  readonly replaceFile: (path: string, text: string, mode: number) => Promise<void>
  readonly fetcher: Fetcher
  /** Aborted when the person at the keyboard has had enough. */
  readonly signal: AbortSignal
}

export interface Output {
  write(text: string): unknown
}

/** One command: its flags and arguments, and what it does. The handler gets what commander made of them. */
export interface CommandDefinition {
  /** Each a line to type, with what it does; help starts with them. */
  readonly examples: readonly (readonly [command: string, meaning: string])[]
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
  readonly load: () => Promise<CommandDefinition>
}

/** Flags that mean the same in every command. */
export interface GlobalOptions {
  readonly file: string
  readonly output: OutputFormat
  readonly input: boolean
  readonly yes?: true
  readonly debug?: true
}

export const outputFormats = ['table', 'wide', 'json', 'yaml'] as const
export type OutputFormat = (typeof outputFormats)[number]
