import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { hasCode } from '../kit/errors.ts'
import type { Channel } from './transport.ts'
import { waitUnlessAborted } from './deadline.ts'

/** Runs a program on this machine as a channel. `kill` ends its whole process group. */
export function startProcessChannel(argv: Argv, env: NodeJS.ProcessEnv = process.env): Channel {
  const [program, ...args] = argv
  // Its own process group: its children can be killed with it, and Ctrl-C in the terminal reaches only us.
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
  // The message of a shell.
  const stderr =
    child.pid === undefined ? Readable.from([Buffer.from(`${program}: not found\n`)]) : child.stderr
  return { stdin: child.stdin, stdout: child.stdout, stderr, ended, kill }
}

/** Sends SIGTERM, then SIGKILL. */
function killGroup(child: ChildProcessWithoutNullStreams): void {
  const { pid } = child
  if (pid === undefined) return
  const sendSignal = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal)
    } catch (error) {
      // Already gone, or owned by root.
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
