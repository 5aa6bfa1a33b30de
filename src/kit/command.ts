import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type ErrorDetails, HyperkubeError } from './errors.ts'

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Written to standard input, which is then closed. */
  readonly input?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Sees each line of standard error as it comes. */
  readonly onLine?: (line: string) => void
  /** Answer with the exit code instead of throwing when it is not 0. */
  readonly allowFailure?: boolean
}

export interface CommandResult {
  /** As a shell counts: 128 and more for a death by signal. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export type Argv = readonly [string, ...string[]]

/** Runs a program without a shell and waits for its end, also when it is aborted. */
export async function run(argv: Argv, options: CommandOptions = {}): Promise<CommandResult> {
  const [program, ...args] = argv
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env,
    signal: options.signal,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
  if (options.onLine !== undefined && child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', options.onLine)
  }
  // A program that ends before it has read its input is judged by its exit code.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input)

  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => {
      if (child.pid === undefined) {
        reject(new HyperkubeError('COMMAND_NOT_RUN', `${program} could not be run`, { cause }))
      }
    })
    child.on('close', (status, signal) => resolve(status ?? 128 + (signal === 'SIGKILL' ? 9 : 15)))
  })
  options.signal?.throwIfAborted()
  const result = { code, stdout: text(stdout), stderr: text(stderr) }
  if (code !== 0 && options.allowFailure !== true) throw commandFailed(argv.join(' '), result)
  return result
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}

/** What went wrong with a command, in its own last words. */
export function commandFailed(what: string, result: CommandResult, details?: ErrorDetails): HyperkubeError {
  return new HyperkubeError('COMMAND_FAILED', `${what} ended with ${result.code}${said(result)}`, details)
}

function said({ stdout, stderr }: CommandResult): string {
  const lines = (stderr.trim() || stdout.trim()).split('\n').slice(-20)
  return lines[0] === '' ? '' : `:\n  ${lines.join('\n  ')}`
}
