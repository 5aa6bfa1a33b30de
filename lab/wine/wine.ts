import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Argv, toCommandError, type CommandResult, runProgram } from '../../src/kit/command.ts'

/** A Wine prefix: a directory with a drive C:, a registry and a service manager. */
export interface Wine extends AsyncDisposable {
  readonly version: string
  /** Converts a path below C: to a path on this machine. */
  readonly toLocalPath: (path: string) => string
  /** Runs a Windows program to its end. Without `allowFailure`, any exit code but 0 is an error. */
  readonly run: (argv: Argv, options?: WineOptions) => Promise<CommandResult>
  /** Returns the command that runs a Windows program, for callers that start it themselves. */
  readonly command: (argv: Argv, extra?: Readonly<Record<string, string>>) => Argv
  /** Ends all processes, then starts the services that start automatically. */
  readonly reboot: () => Promise<void>
}

export interface WineOptions {
  readonly input?: string
  readonly allowFailure?: boolean
  readonly timeoutMs?: number
}

const binaries = '/usr/lib/wine'

/** Creates a prefix that reports Windows 10, the minimum for Node. */
export async function createWine(): Promise<Wine> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-wine-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    // Wine links folders of its user to folders in HOME, so HOME must not be the real one.
    HOME: directory,
    WINEPREFIX: join(directory, 'prefix'),
    WINEDEBUG: '-all',
  }
  const wine64 = join(binaries, 'wine64')
  let keepAlive: ChildProcess | undefined
  /**
   * Starts a shell that waits forever for input, because Wine exits when no program runs. The shell must
   * start before any other program; otherwise two sessions start in parallel, each with its own service
   * manager.
   */
  const startSession = async (): Promise<void> => {
    const shell = spawn(wine64, ['cmd.exe'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
    keepAlive = shell
    shell.stdin.on('error', () => undefined)
    shell.stdin.write('echo awake\r\n')
    await once(shell.stdout, 'data', { signal: AbortSignal.timeout(120_000) })
    shell.stdout.resume()
  }
  const stopSession = async (): Promise<void> => {
    keepAlive?.stdin?.destroy()
    await runProgram([join(binaries, 'wineserver64'), '-k'], { env, allowFailure: true })
    await runProgram([join(binaries, 'wineserver64'), '-w'], { env, allowFailure: true })
  }
  const wine: Wine = {
    version: (await runProgram([wine64, '--version'], { env })).stdout.trim(),
    toLocalPath: (path) =>
      join(directory, 'prefix/drive_c', path.replace(/^C:\\/i, '').replaceAll('\\', '/')),
    run: async (argv, options) => runWithFiles([wine64, ...argv], directory, env, options),
    command: (argv, extra = {}) => {
      const variables = Object.entries({ ...env, ...extra }).map(([name, value]) => `${name}=${value}`)
      return ['env', '-i', ...variables, wine64, ...argv]
    },
    async reboot() {
      await stopSession()
      await startSession()
    },
    async [Symbol.asyncDispose]() {
      await stopSession()
      await rm(directory, { recursive: true, force: true })
    },
  }
  await wine.run(['wineboot', '--init'], { timeoutMs: 300_000 })
  await wine.run(['winecfg', '-v', 'win10'])
  await stopSession()
  await startSession()
  return wine
}

/** Runs a program with input and output in files, because Node for Windows cannot use the pipes of Linux. */
async function runWithFiles(
  [program, ...args]: Argv,
  directory: string,
  env: NodeJS.ProcessEnv,
  { input = '', allowFailure = false, timeoutMs = 120_000 }: WineOptions = {},
): Promise<CommandResult> {
  const work = await mkdtemp(join(directory, 'run-'))
  const path = (name: string): string => join(work, name)
  await writeFile(path('in'), input)
  await using files = new AsyncDisposableStack()
  const openFile = async (name: string, flags: string): Promise<number> =>
    files.use(await open(path(name), flags)).fd
  const stdio = [await openFile('in', 'r'), await openFile('out', 'w'), await openFile('err', 'w')]
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(program, args, { env, stdio, timeout: timeoutMs, killSignal: 'SIGKILL' })
    child.once('error', reject)
    child.once('exit', (status) => resolve(status ?? 137))
  })
  const [stdout, stderr] = [await readFile(path('out'), 'utf8'), await readFile(path('err'), 'utf8')]
  const result = { code, stdout, stderr }
  await rm(work, { recursive: true })
  if (code !== 0 && !allowFailure) throw toCommandError(args.join(' '), result)
  return result
}
