import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { hasCode } from '../kit/errors.ts'
import type { Channel } from './transport.ts'
import { waitUnlessAborted } from './deadline.ts'

/** Runs a local program as a channel. `kill` ends the whole process group of the program. */
export function startProcessChannel(argv: Argv, env: NodeJS.ProcessEnv = process.env): Channel {
  const [program, ...args] = argv
  // The program gets its own process group, so its children can be killed with it. Ctrl-C in the terminal
  // does not reach this group.
  const child = spawn(program, args, { env, detached: true })
  const killed = new AbortController()
  const ended = waitUnlessAborted<number>([killed.signal], ({ succeed }) => {
    child.on('error', (error) => {
      if (child.pid === undefined) succeed(hasCode(error, 'ENOENT') ? 127 : 126)
    })
    child.on('close', (code, signal) =>
      succeed(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    )
  })
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  const kill = (reason: unknown): void => {
    killed.abort(reason)
    killGroup(child)
  }
  // If the program could not be started, stderr contains the message that a shell would print.
  const stderr =
    child.pid === undefined ? Readable.from([Buffer.from(`${program}: not found\n`)]) : child.stderr
  return { stdin: child.stdin, stdout: child.stdout, stderr, ended, kill }
}

/** Sends SIGTERM to the process group, and SIGKILL two seconds later if the program still runs. */
function killGroup(child: ChildProcessWithoutNullStreams): void {
  const { pid } = child
  if (pid === undefined) return
  const sendSignal = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal)
    } catch (error) {
      // The error is ignored if the process has already ended or belongs to root.
      if (!hasCode(error, 'ESRCH') && !hasCode(error, 'EPERM')) throw error
    }
  }
  sendSignal('SIGTERM')
  setTimeout(
    () => child.exitCode === null && child.signalCode === null && sendSignal('SIGKILL'),
    2000,
  ).unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
}
