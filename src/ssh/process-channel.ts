import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { hasCode } from '../kit/errors.ts'
import type { Channel } from './transport.ts'
import { unlessAborted } from './deadline.ts'

/** A program of this machine, as one at work on a host. It is told to end with all that it started. */
export function processChannel(argv: Argv, env: NodeJS.ProcessEnv = process.env): Channel {
  const [program, ...args] = argv
  // A group of its own: so it can be ended with its children, and a Ctrl-C in the terminal is ours alone to answer.
  const child = spawn(program, args, { env, detached: true })
  const killed = new AbortController()
  const ended = unlessAborted<number>([killed.signal], ({ succeed }) => {
    child.on('error', (error) => {
      if (child.pid === undefined) succeed(hasCode(error, 'ENOENT') ? 127 : 126)
    })
    child.on('close', (code, signal) =>
      succeed(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    )
  })
  // Nobody may be waiting for it yet.
  ended.catch(() => undefined)
  const kill = (reason: unknown): void => {
    killed.abort(reason)
    endGroup(child)
  }
  // As a shell would put it.
  const stderr =
    child.pid === undefined ? Readable.from([Buffer.from(`${program}: not found\n`)]) : child.stderr
  return { stdin: child.stdin, stdout: child.stdout, stderr, ended, kill }
}

/** Kindly first; what does not listen is ended anyway. */
function endGroup(child: ChildProcessWithoutNullStreams): void {
  const { pid } = child
  if (pid === undefined) return
  const tell = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal)
    } catch (error) {
      // Gone already, or root's.
      if (!hasCode(error, 'ESRCH') && !hasCode(error, 'EPERM')) throw error
    }
  }
  tell('SIGTERM')
  setTimeout(() => child.exitCode === null && child.signalCode === null && tell('SIGKILL'), 2000).unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
}
