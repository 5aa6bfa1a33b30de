import { availableParallelism, homedir } from 'node:os'
import { isSea } from 'node:sea'
import { styleText } from 'node:util'
import { createTerminalPrompts } from './cli/command/terminal-prompts.ts'
import { createCommandLogStore } from './cli/environment/command-log.ts'
import { findStateDirectory } from './cli/environment/operator-directories.ts'
import { runForeground } from './cli/environment/run-foreground.ts'
import { startHelper } from './cli/environment/start-helper.ts'
import { createWorkspaceContext } from './cli/environment/workspace-context.ts'
import { runCommandLine } from './cli/run-command-line.ts'
import { formatError } from './kit/errors.ts'

// In a single executable, `process.argv0` is the name or link by which it was called. Otherwise Node.js runs
// this file, and `process.argv[1]` is the path of this file.
const programPath = isSea() ? process.argv0 : (process.argv[1] ?? 'hyperkube')

// Only the first Ctrl-C is handled, so the second one ends the process at once.
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())

const { stdin, stdout, stderr, platform, env } = process
// Describes a terminal that can move the cursor. A terminal that does not know its size reports 0, and a
// default size is used.
const createScreen = (stream: typeof stdout | typeof stderr) =>
  stream.isTTY && env['TERM'] !== 'dumb'
    ? { size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }) }
    : undefined
// A reader such as `head` may close the pipe early. This is not an error of this program, so EPIPE is
// ignored.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
const terminal = stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : undefined

runCommandLine(programPath, process.argv.slice(2), {
  ...createWorkspaceContext({
    executable: isSea() ? process.execPath : undefined,
    signal: interruption.signal,
    writeLine: (line) => stderr.write(`${line}\n`),
  }),
  stdout,
  stderr,
  // styleText respects NO_COLOR and writes no colours to files.
  paint: (colour, text) => styleText(colour, text, { stream: stdout }),
  paintProgress: (colour, text) => styleText(colour, text, { stream: stderr }),
  screen: createScreen(stderr),
  resultScreen: createScreen(stdout),
  repeat(milliseconds, callback) {
    const timer = setInterval(callback, milliseconds).unref()
    return () => clearInterval(timer)
  },
  runForeground: async (argv, variables) => runForeground(argv, { ...env, ...variables }),
  // A process group, which ends with its first process, does not exist on Windows.
  startHelper: isSea() && platform !== 'win32' ? startHelper : undefined,
  processors: availableParallelism(),
  commandLogs: createCommandLogStore(() => findStateDirectory({ platform, env, home: homedir })),
  stateDirectory: () => findStateDirectory({ platform, env, home: homedir }),
  // Loaded only when needed, because every service starts this program and few commands need the key.
  readReleaseKey: async () => {
    const { readReleaseTable } = await import('./cli/environment/agent-release.ts')
    return (await readReleaseTable())?.publicKey
  },
  environment: {
    workingDirectory: process.cwd(),
    file: env['HYPERKUBE_FILE'] || undefined,
    key: env['HYPERKUBE_KEY_FILE'] || undefined,
    kubeconfig: env['KUBECONFIG'] || undefined,
  },
  openPrompts: terminal && ((signal) => createTerminalPrompts(terminal, signal)),
}).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`UNEXPECTED: ${formatError(error)}\n`)
    process.exitCode = 1
  },
)
