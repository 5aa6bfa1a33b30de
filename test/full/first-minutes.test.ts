import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { renderRecording, type TerminalFrame } from '../../scripts/recording.ts'
import { FaultLab } from '../support/fault-lab.ts'

const size = { columns: 120, rows: 32 }
const root = join(import.meta.dirname, '../..')

let lab: FaultLab
beforeAll(async () => {
  lab = await FaultLab.open('first-minutes', ['cp1', 'w1'])
}, 600_000)
afterAll(async () => lab[Symbol.asyncDispose](), 300_000)

/** A shell in tmux whose screens are recorded. */
class Shell {
  readonly frames: TerminalFrame[] = []
  readonly #started = performance.now()
  readonly #tmux: readonly [string, ...string[]]
  readonly #env: Readonly<Record<string, string>>

  constructor(directory: string) {
    this.#tmux = ['tmux', '-u', '-S', join(directory, 'tmux'), '-f', '/dev/null']
    this.#env = {
      PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
      HOME: directory,
      LC_ALL: 'C.UTF-8',
      TERM: 'xterm-256color',
    }
  }

  async run(...args: readonly string[]): Promise<string> {
    return (await runProgram([...this.#tmux, ...args], { env: this.#env })).stdout
  }

  /** Waits until the screen contains a text, and records each new screen meanwhile. */
  async waitFor(expected: RegExp, timeoutMs: number): Promise<string> {
    let screen = ''
    await pollUntil(
      String(expected),
      async () => {
        const text = (await this.run('capture-pane', '-e', '-p')).trimEnd()
        if (text !== this.frames.at(-1)?.text) {
          this.frames.push({ at: performance.now() - this.#started, text })
        }
        screen = await this.run('capture-pane', '-p', '-J')
        return expected.test(screen)
      },
      { timeoutMs, intervalMs: 400 },
    )
    return screen
  }

  async clear(): Promise<void> {
    await this.run('send-keys', 'C-l')
    await this.waitFor(/^\$\s*$/, 10_000)
  }

  async type(line: string): Promise<void> {
    await this.run('send-keys', '-l', line)
    await this.waitFor(/./, 10_000)
    await this.run('send-keys', 'Enter')
  }
}

test('three commands lead from cluster.yml to kubectl get nodes', { timeout: 900_000 }, async () => {
  await lab.writeClusterYaml()
  await mkdir(join(lab.directory, 'bin'))
  await runProgram(['ln', '-s', lab.program, join(lab.directory, 'bin/hyperkube')])
  const promptFile = join(lab.directory, 'prompt')
  await writeFile(promptFile, "PS1='$ '\n")
  const shell = new Shell(lab.directory)
  const session = ['new-session', '-d', '-x', String(size.columns), '-y', String(size.rows)]
  await shell.run(...session, '-c', lab.directory, `bash --rcfile ${promptFile}`)
  try {
    await shell.waitFor(/^\$/m, 10_000)
    await shell.type('hyperkube init')
    await shell.waitFor(/\n\$\s*$/, 30_000)
    await shell.clear()
    await shell.type('hyperkube up')
    await shell.waitFor(/cluster\.lock does not exist/, 30_000)
    await shell.run('send-keys', 'Enter')
    await shell.waitFor(/make these changes\?/, 120_000)
    await shell.run('send-keys', 'y')
    await shell.waitFor(/\n\$\s*$/, 600_000)
    await shell.clear()
    await shell.type('hyperkube kubectl get nodes')
    const nodes = await shell.waitFor(/w1\s+Ready/, 60_000)
    expect(nodes).toMatch(/cp1\s+Ready/)
    expect(nodes).toMatch(/w1\s+Ready/)
  } finally {
    await shell.run('kill-server').catch(() => '')
  }
  const target = join(root, 'docs/public/recording.svg')
  await mkdir(join(root, 'docs/public'), { recursive: true })
  // `~` replaces the temporary directory of the lab, because the recording is part of the documentation.
  const frames = shell.frames.map(({ at, text }) => ({ at, text: text.replaceAll(lab.directory, '~') }))
  await writeFile(target, renderRecording(frames, size))
  expect((await readFile(target, 'utf8')).length).toBeLessThan(2_000_000)
})
