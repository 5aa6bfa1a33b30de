import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'

export interface CommandOutput {
  readonly args: readonly string[]
  readonly text: string
  readonly code: number
}

/** A command that runs in the background. */
export interface RunningCommand {
  /** Waits until the output contains this text. */
  waitForOutput(expected: string): Promise<void>
  signal(name: 'SIGINT' | 'SIGSTOP' | 'SIGCONT'): void
  readonly ended: Promise<CommandOutput>
}

/** Runs a program in a directory, with an empty home directory. */
export class Terminal {
  readonly #program: string
  readonly #directory: string
  readonly #environment: Readonly<Record<string, string>>

  constructor(program: string, directory: string) {
    this.#program = program
    this.#directory = directory
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: directory,
      XDG_CONFIG_HOME: directory,
      XDG_STATE_HOME: directory,
    }
  }

  async hyperkube(...args: readonly string[]): Promise<CommandOutput> {
    return this.start(...args).ended
  }

  start(...args: readonly string[]): RunningCommand {
    // One pipe for both streams keeps the order of lines.
    const child = spawn('sh', ['-c', 'exec "$0" "$@" 2>&1', this.#program, ...args], {
      cwd: this.#directory,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const ended = new Promise<CommandOutput>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status, signal) =>
        resolve({ args, text, code: status ?? 128 + constants.signals[signal ?? 'SIGKILL'] }),
      )
    })
    const endedEarly = ended.then(({ text: all }) => Promise.reject(new Error(`it has ended:\n${all}`)))
    // Prevents an unhandled rejection. Only callers of `waitForOutput` get this error.
    endedEarly.catch(() => undefined)
    return {
      async waitForOutput(expected) {
        const found = pollUntil(expected, async () => text.includes(expected), {
          timeoutMs: 300_000,
          intervalMs: 10,
        })
        await Promise.race([found, endedEarly])
      },
      signal: (name) => void child.kill(name),
      ended,
    }
  }

  /** Runs a command in tmux and returns its last screen. */
  async runInTmux(...args: readonly string[]): Promise<CommandOutput> {
    const tmux = ['tmux', '-u', '-S', join(this.#directory, 'tmux'), '-f', '/dev/null'] as const
    const env = { ...this.#environment, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' }
    const runTmux = async (...tmuxArgs: readonly string[]): Promise<string> =>
      (await runProgram([...tmux, ...tmuxArgs], { env })).stdout
    const remainOnExit = ['set-option', '-g', 'remain-on-exit', 'on', ';']
    const noExitMessage = ['set-option', '-g', 'remain-on-exit-format', '', ';']
    const session = ['new-session', '-d', '-x', '120', '-y', '60', '-c', this.#directory]
    // tmux may miss the exit code of a program, so the shell writes it to a file.
    const exitCodeFile = join(this.#directory, 'ending')
    const recordExitCode = ['sh', '-c', '"$@"; echo $? > "$0"', exitCodeFile]
    await runTmux(
      'start-server',
      ';',
      ...remainOnExit,
      ...noExitMessage,
      ...session,
      ...recordExitCode,
      this.#program,
      ...args,
    )
    try {
      await pollUntil(
        `${args.join(' ')} to end`,
        async () => (await runTmux('display-message', '-p', '#{pane_dead}')).trim() === '1',
        { timeoutMs: 300_000 },
      )
      const status = await readFile(exitCodeFile, 'utf8')
      // Joins wrapped lines. Where a line wraps depends on the length of addresses, which differs between
      // machines that run the test.
      const lines = (await runTmux('capture-pane', '-p', '-J')).trimEnd().split('\n')
      return { args, text: lines.map((line) => `${line.trimEnd()}\n`).join(''), code: Number(status) }
    } finally {
      await runTmux('kill-server')
    }
  }
}
