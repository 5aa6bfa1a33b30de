import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Argv, commandFailed, type CommandResult, run } from '../../src/kit/command.ts'

/** Windows without Windows: a directory that is a drive C: with a registry and a manager of services, and nothing else of ours. */
export interface Wine extends AsyncDisposable {
  readonly version: string
  /** Where a path below C: is on this machine. */
  readonly place: (path: string) => string
  /** Runs a program of Windows to its end. Without `allowFailure` any exit code but 0 is an error. */
  readonly run: (argv: Argv, options?: WineOptions) => Promise<CommandResult>
  /** A program of Windows as a command of this machine, for whoever runs it himself. */
  readonly command: (argv: Argv, more?: Readonly<Record<string, string>>) => Argv
  /** All that runs there ends; services that start with the host then start. */
  readonly reboot: () => Promise<void>
}

export interface WineOptions {
  readonly input?: string
  readonly allowFailure?: boolean
  /** In milliseconds. */
  readonly within?: number
}

const binaries = '/usr/lib/wine'

/** As Windows 10, which is the least that Node asks for. */
export async function newWine(): Promise<Wine> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-wine-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    // It links the folders of a user to those of whoever runs it.
    HOME: directory,
    WINEPREFIX: join(directory, 'prefix'),
    WINEDEBUG: '-all',
  }
  const wine64 = join(binaries, 'wine64')
  let awake: ChildProcess | undefined
  /**
   * Without anybody who runs it ends by itself, and begins as a new one: this one waits for words that never come. It has to
   * run before anybody else does, or two begin side by side, each with a manager of services.
   */
  const wake = async (): Promise<void> => {
    const shell = spawn(wine64, ['cmd.exe'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
    awake = shell
    shell.stdin.on('error', () => undefined)
    shell.stdin.write('echo awake\r\n')
    await once(shell.stdout, 'data', { signal: AbortSignal.timeout(120_000) })
    shell.stdout.resume()
  }
  const halt = async (): Promise<void> => {
    awake?.stdin?.destroy()
    await run([join(binaries, 'wineserver64'), '-k'], { env, allowFailure: true })
    await run([join(binaries, 'wineserver64'), '-w'], { env, allowFailure: true })
  }
  const wine: Wine = {
    version: (await run([wine64, '--version'], { env })).stdout.trim(),
    place: (path) => join(directory, 'prefix/drive_c', path.replace(/^C:\\/i, '').replaceAll('\\', '/')),
    run: async (argv, options) => runByFiles([wine64, ...argv], directory, env, options),
    command: (argv, more = {}) => {
      const variables = Object.entries({ ...env, ...more }).map(([name, value]) => `${name}=${value}`)
      return ['env', '-i', ...variables, wine64, ...argv]
    },
    async reboot() {
      await halt()
      await wake()
    },
    async [Symbol.asyncDispose]() {
      await halt()
      await rm(directory, { recursive: true, force: true })
    },
  }
  await wine.run(['wineboot', '--init'], { within: 300_000 })
  await wine.run(['winecfg', '-v', 'win10'])
  await halt()
  await wake()
  return wine
}

/** What a program is given and says goes by files: Node for Windows cannot use the pipes of this machine. */
async function runByFiles(
  [program, ...args]: Argv,
  directory: string,
  env: NodeJS.ProcessEnv,
  { input = '', allowFailure = false, within = 120_000 }: WineOptions = {},
): Promise<CommandResult> {
  const work = await mkdtemp(join(directory, 'run-'))
  const path = (name: string): string => join(work, name)
  await writeFile(path('in'), input)
  await using files = new AsyncDisposableStack()
  const opened = async (name: string, flags: string): Promise<number> =>
    files.use(await open(path(name), flags)).fd
  const stdio = [await opened('in', 'r'), await opened('out', 'w'), await opened('err', 'w')]
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(program, args, { env, stdio, timeout: within, killSignal: 'SIGKILL' })
    child.once('error', reject)
    child.once('exit', (status) => resolve(status ?? 137))
  })
  const [stdout, stderr] = [await readFile(path('out'), 'utf8'), await readFile(path('err'), 'utf8')]
  const result = { code, stdout, stderr }
  await rm(work, { recursive: true })
  if (code !== 0 && !allowFailure) throw commandFailed(args.join(' '), result)
  return result
}
