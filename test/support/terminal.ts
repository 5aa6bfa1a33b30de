import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'

/** All that somebody has seen of a command, and what it ended with. */
export interface Seen {
  readonly words: readonly string[]
  readonly text: string
  readonly code: number
}

/** A command that runs, before somebody's eyes. */
export interface Running {
  /** Waits until something was written. */
  saw(what: string): Promise<void>
  signal(name: 'SIGINT' | 'SIGSTOP' | 'SIGCONT'): void
  readonly ended: Promise<Seen>
}

/** A person who types commands in a directory, and has nothing elsewhere. */
export class Typist {
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

  async hyperkube(...words: readonly string[]): Promise<Seen> {
    return this.begin(...words).ended
  }

  begin(...words: readonly string[]): Running {
    // One pipe for both, so that lines stand in the order in which they were written.
    const child = spawn('sh', ['-c', 'exec "$0" "$@" 2>&1', this.#program, ...words], {
      cwd: this.#directory,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const ended = new Promise<Seen>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status, signal) =>
        resolve({ words, text, code: status ?? 128 + constants.signals[signal ?? 'SIGKILL'] }),
      )
    })
    const isOver = ended.then(({ text: all }) => Promise.reject(new Error(`it has ended:\n${all}`)))
    // Only who waits for something else minds that it has ended.
    isOver.catch(() => undefined)
    return {
      async saw(what) {
        const look = until(what, async () => text.includes(what), { within: 300_000, every: 10 })
        await Promise.race([look, isOver])
      },
      signal: (name) => void child.kill(name),
      ended,
    }
  }

  /** The last screen of a real terminal in which a command has run. */
  async atTerminal(...words: readonly string[]): Promise<Seen> {
    const tmux = ['tmux', '-u', '-S', join(this.#directory, 'tmux'), '-f', '/dev/null'] as const
    const env = { ...this.#environment, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' }
    const ask = async (...question: readonly string[]): Promise<string> =>
      (await run([...tmux, ...question], { env })).stdout
    const stay = ['set-option', '-g', 'remain-on-exit', 'on', ';']
    const silently = ['set-option', '-g', 'remain-on-exit-format', '', ';']
    const session = ['new-session', '-d', '-x', '120', '-y', '60', '-c', this.#directory]
    // tmux may miss how a program has ended, and only see that nobody writes any more.
    const ending = join(this.#directory, 'ending')
    const noted = ['sh', '-c', '"$@"; echo $? > "$0"', ending]
    await ask('start-server', ';', ...stay, ...silently, ...session, ...noted, this.#program, ...words)
    try {
      await until(
        `${words.join(' ')} to end`,
        async () => (await ask('display-message', '-p', '#{pane_dead}')).trim() === '1',
        { within: 300_000 },
      )
      const status = await readFile(ending, 'utf8')
      // Lines that the terminal has broken are joined: addresses are of another length on every machine.
      const lines = (await ask('capture-pane', '-p', '-J')).trimEnd().split('\n')
      return { words, text: lines.map((line) => `${line.trimEnd()}\n`).join(''), code: Number(status) }
    } finally {
      await ask('kill-server')
    }
  }
}
