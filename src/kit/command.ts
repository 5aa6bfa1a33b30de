import { spawn } from 'node:child_process'
import { ByteBuffer } from './byte-buffer.ts'
import { type ErrorDetails, HyperkubeError } from './errors.ts'
import { watchLines } from './lines.ts'

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Input for the program's standard input, which is closed afterwards. */
  readonly input?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Called with each line of standard error as it arrives. */
  readonly onLine?: (line: string) => void
  /** If true, a non-zero exit code is returned in the result instead of thrown as an error. */
  readonly allowFailure?: boolean
  /** Maximum size of standard output, and of standard error. A program that writes more is killed. */
  readonly maxOutputBytes?: number
}

/**
 * Larger than any expected output. The limit is needed, because output may come from a host, which must not
 * fill the memory.
 */
const defaultMaxOutputBytes = 64 << 20

export interface CommandResult {
  /** Exit code of the program; 128 plus the signal number if a signal ended it. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export type Argv = readonly [string, ...string[]]

/**
 * Runs a program without a shell and waits until it exits. After an abort, the call also waits until the
 * program has exited.
 */
export async function runProgram(argv: Argv, options: CommandOptions = {}): Promise<CommandResult> {
  const [program, ...args] = argv
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env,
    signal: options.signal,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [new ByteBuffer(), new ByteBuffer()]
  const { maxOutputBytes = defaultMaxOutputBytes } = options
  let isTooLong = false
  const collect = (output: ByteBuffer) => (chunk: Buffer) => {
    if (output.length + chunk.length <= maxOutputBytes) output.append(chunk)
    else isTooLong = child.kill('SIGKILL') || isTooLong
  }
  child.stdout?.on('data', collect(stdout))
  child.stderr?.on('data', collect(stderr))
  if (options.onLine !== undefined && child.stderr !== null) {
    watchLines(child.stderr, options.onLine)
  }
  // A program may exit before it has read all input. Its exit code decides whether it failed.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input)

  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => {
      if (child.pid === undefined) {
        reject(new HyperkubeError('COMMAND_NOT_RUN', `cannot run ${program}`, { cause }))
      }
    })
    child.on('close', (status, signal) => resolve(status ?? 128 + (signal === 'SIGKILL' ? 9 : 15)))
  })
  options.signal?.throwIfAborted()
  if (isTooLong) {
    const message = `${argv.join(' ')} wrote more than ${maxOutputBytes} bytes of output and was stopped`
    throw new HyperkubeError('COMMAND_FAILED', message)
  }
  const result = { code, stdout: stdout.take().toString('utf8'), stderr: stderr.take().toString('utf8') }
  if (code !== 0 && options.allowFailure !== true) throw toCommandError(argv.join(' '), result)
  return result
}

/** Builds an error with the exit code and the last 20 lines of output. */
export function toCommandError(what: string, result: CommandResult, details?: ErrorDetails): HyperkubeError {
  return new HyperkubeError(
    'COMMAND_FAILED',
    `${what} ended with ${result.code}${formatOutput(result)}`,
    details,
  )
}

function formatOutput({ stdout, stderr }: CommandResult): string {
  const lines = (stderr.trim() || stdout.trim()).split('\n').slice(-20)
  return lines[0] === '' ? '' : `:\n  ${lines.join('\n  ')}`
}
