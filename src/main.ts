import { homedir, hostname, userInfo } from 'node:os'
import { isSea } from 'node:sea'
import { styleText } from 'node:util'
import { bundleDisk } from './bundle/disk.ts'
import { httpFetcher } from './catalog/http-fetcher.ts'
import { httpWeb } from './catalog/registry/http-transport.ts'
import { retryingWeb } from './catalog/registry/retrying-transport.ts'
import { retrying } from './catalog/retrying-fetcher.ts'
import { cacheDirectory } from './cli/cache-directory.ts'
import { configDirectory } from './cli/config-directory.ts'
import { disk } from './cli/local-files.ts'
import { ownRelease } from './cli/agent-release.ts'
import { diskRunLogs } from './cli/command-log.ts'
import { runCommandLine } from './cli/run-command-line.ts'
import { stateDirectory } from './cli/state-directory.ts'
import { terminalQuestions } from './cli/terminal-prompts.ts'
import { describe } from './kit/errors.ts'

// As one executable the program is called by its own name or a link's; otherwise Node is, with us as a file.
const called = isSea() ? process.argv0 : (process.argv[1] ?? 'hyperkube')

// Once: who interrupts a second time does not want to wait for us.
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())

const { stdin, stdout, stderr, platform, env } = process
// A terminal that does not know its size says that it has none.
const screenOf = (stream: typeof stdout | typeof stderr) =>
  stream.isTTY && env['TERM'] !== 'dumb'
    ? { size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }) }
    : undefined
const terminal = stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : undefined

runCommandLine(called, process.argv.slice(2), {
  ...disk(),
  stdout,
  stderr,
  // It heeds NO_COLOR, and that a file wants none.
  paint: (colour, text) => styleText(colour, text, { stream: stdout }),
  paintProgress: (colour, text) => styleText(colour, text, { stream: stderr }),
  screen: screenOf(stderr),
  resultScreen: screenOf(stdout),
  every(milliseconds, act) {
    const timer = setInterval(act, milliseconds).unref()
    return () => clearInterval(timer)
  },
  runLogs: diskRunLogs(() => stateDirectory({ platform, env, home: homedir })),
  fetcher: retrying(httpFetcher()),
  web: retryingWeb(httpWeb()),
  bundles: bundleDisk(),
  now: () => new Date(),
  operator: {
    user: userInfo().username,
    home: homedir(),
    machine: hostname(),
    sshAgent: env['SSH_AUTH_SOCK'],
  },
  release: async (arch, os) => ownRelease(arch, os, isSea() ? process.execPath : undefined),
  configDirectory: () => configDirectory({ platform, env, home: homedir }),
  cacheDirectory: () => cacheDirectory({ platform, env, home: homedir }),
  questions: terminal && ((signal) => terminalQuestions(terminal, signal)),
  signal: interruption.signal,
}).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`UNEXPECTED: ${describe(error)}\n`)
    process.exitCode = 1
  },
)
