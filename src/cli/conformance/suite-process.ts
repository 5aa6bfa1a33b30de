import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'

export interface SuiteRun {
  readonly argv: Argv
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** A file for all that it prints. */
  readonly log: string
  /** Sees each line of standard output as it comes. */
  readonly line: (text: string) => void
  readonly signal: AbortSignal
  /** Hears that it was asked to end. */
  readonly stopping: () => void
  /** How long it may take to clean up after it was told to stop, in milliseconds. */
  readonly grace?: number
}

/** The suite gives a test that is interrupted half a minute for each of its parts. */
const patience = 90_000

/**
 * Runs the suite to its end, and answers with its exit code. An abort asks it to end, and it is waited for: it has
 * objects in the cluster to remove. It is in a process group of its own, so that nothing that it has begun outlives it.
 */
export async function runSuite(run: SuiteRun): Promise<number> {
  run.signal.throwIfAborted()
  const [program, ...args] = run.argv
  const child = spawn(program, args, {
    cwd: run.directory,
    env: run.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(run.log, { flags: 'wx' })
  const logged = Promise.withResolvers<void>()
  log.on('error', logged.reject).on('close', logged.resolve)
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  createInterface({ input: child.stdout }).on('line', run.line)
  let killing: NodeJS.Timeout | undefined
  const stop = (): void => {
    run.stopping()
    signalGroup(child.pid, 'SIGINT')
    killing = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), run.grace ?? patience)
  }
  run.signal.addEventListener('abort', stop, { once: true })
  try {
    // A disk that takes no log has to end it too.
    const code = await Promise.race([ended(child, program), logged.promise.then(() => 1)])
    log.end()
    await logged.promise
    return code
  } finally {
    run.signal.removeEventListener('abort', stop)
    clearTimeout(killing)
    signalGroup(child.pid, 'SIGKILL')
    log.destroy()
  }
}

async function ended(child: ChildProcessByStdio<null, Readable, Readable>, program: string): Promise<number> {
  // Those that it leaves behind would hold its output open.
  child.once('exit', () => signalGroup(child.pid, 'SIGKILL'))
  try {
    const [code]: unknown[] = await once(child, 'close')
    return typeof code === 'number' ? code : 1
  } catch (cause) {
    throw new HyperkubeError('CONFORMANCE_NOT_RUN', `${program} could not be run`, {
      hint: 'does it run on this kind of machine? try it with --version',
      cause,
    })
  }
}

/** Nobody may be left in it. */
function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, signal)
  } catch {
    // There is no such group any more.
  }
}
