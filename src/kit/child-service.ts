import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { formatError } from './errors.ts'
import { pollUntil } from './poll.ts'

export interface ChildServiceOptions {
  /** Describes the awaited state in messages, for example `the restored etcd to be ready`. */
  readonly what: string
  readonly argv: readonly [program: string, ...args: string[]]
  readonly cwd: string
  readonly isReady: (signal: AbortSignal) => Promise<boolean>
  readonly startTimeoutMs: number
  /** Builds the error for a process that exited before it was ready, from the last output of the process. */
  readonly toStartError: (output: string) => Error
  readonly signal: AbortSignal
}

/**
 * Starts a program that serves until it is disposed. Returns when the program is ready. An abort kills the
 * program at once.
 */
export async function startChildService(options: ChildServiceOptions): Promise<AsyncDisposable> {
  const { what, argv, cwd, isReady, startTimeoutMs, toStartError, signal } = options
  const [program, ...args] = argv
  // With an empty environment, variables of the operator do not change the program.
  const child = spawn(program, args, { cwd, env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = waitForExit(child)
  const kill = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', kill)
    kill()
    await exited
  }
  try {
    const exitedEarly = new AbortController()
    await Promise.race([
      pollUntil(what, isReady, {
        timeoutMs: startTimeoutMs,
        intervalMs: 50,
        signal: AbortSignal.any([signal, exitedEarly.signal]),
      }),
      exited.then((output) => {
        exitedEarly.abort()
        throw toStartError(output)
      }),
    ])
  } catch (error) {
    await close()
    signal.throwIfAborted()
    throw error
  }
  return { [Symbol.asyncDispose]: close }
}

/** Returns the last output of the process after it has exited. */
async function waitForExit(child: ChildProcess): Promise<string> {
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-2000)
  })
  try {
    await once(child, 'close')
  } catch (error) {
    return formatError(error)
  }
  return output
}
