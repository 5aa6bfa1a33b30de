import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { watchLines } from '../../kit/lines.ts'

export interface SuiteProcessOptions {
  readonly argv: Argv
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** File for all output of the suite. */
  readonly log: string
  /** Called with each line of standard output. */
  readonly onLine: (text: string) => void
  readonly signal: AbortSignal
  /** Called when the suite is interrupted. */
  readonly onStopping: () => void
  /** How long the suite may take to clean up after an interrupt, in milliseconds. */
  readonly graceMs?: number
}

/** Time for three parts of an interrupted test to clean up. The suite gives each part 30 seconds. */
const defaultGraceMs = 90_000

/**
 * Runs the suite to its end and returns its exit code. An abort interrupts the suite and waits for it to
 * remove its objects from the cluster. The suite runs in its own process group, so its children end with it.
 */
export async function runSuiteProcess(options: SuiteProcessOptions): Promise<number> {
  options.signal.throwIfAborted()
  const [program, ...args] = options.argv
  const child = spawn(program, args, {
    cwd: options.directory,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(options.log, { flags: 'wx' })
  const logClosed = Promise.withResolvers<void>()
  log.on('error', logClosed.reject).on('close', logClosed.resolve)
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  watchLines(child.stdout, options.onLine)
  let killTimer: NodeJS.Timeout | undefined
  const stop = (): void => {
    options.onStopping()
    signalGroup(child.pid, 'SIGINT')
    killTimer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), options.graceMs ?? defaultGraceMs)
  }
  options.signal.addEventListener('abort', stop, { once: true })
  try {
    // If the log cannot be written, the run ends with exit code 1.
    const code = await Promise.race([waitForExit(child, program), logClosed.promise.then(() => 1)])
    log.end()
    await logClosed.promise
    return code
  } finally {
    options.signal.removeEventListener('abort', stop)
    clearTimeout(killTimer)
    signalGroup(child.pid, 'SIGKILL')
    log.destroy()
  }
}

async function waitForExit(
  child: ChildProcessByStdio<null, Readable, Readable>,
  program: string,
): Promise<number> {
  // Kills children that outlive the suite. They would keep its output open, and `close` would not be emitted.
  child.once('exit', () => signalGroup(child.pid, 'SIGKILL'))
  try {
    const [code]: unknown[] = await once(child, 'close')
    return typeof code === 'number' ? code : 1
  } catch (cause) {
    throw new HyperkubeError('CONFORMANCE_NOT_RUN', `cannot run ${program}`, {
      hint: `check that the binary is for this machine: ${program} --version`,
      cause,
    })
  }
}

/** Sends a signal to a process group, which may have ended already. */
function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, signal)
  } catch {
    // The group does not exist any more.
  }
}
