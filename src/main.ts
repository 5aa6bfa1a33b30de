import { homedir, hostname, userInfo } from 'node:os'
import { isSea } from 'node:sea'
import { styleText } from 'node:util'
import { bundleDisk } from './bundle/disk.ts'
import { httpFetcher } from './catalog/http-fetcher.ts'
import { httpRegistryTransport } from './catalog/registry/http-transport.ts'
import { retryingRegistryTransport } from './catalog/registry/retrying-transport.ts'
import { retryingFetcher } from './catalog/retrying-fetcher.ts'
import { findCacheDirectory } from './cli/cache-directory.ts'
import { findConfigDirectory } from './cli/config-directory.ts'
import { createLocalFiles } from './cli/local-files.ts'
import { findAgentRelease } from './cli/agent-release.ts'
import { createCommandLogStore } from './cli/command-log.ts'
import { runCommandLine } from './cli/run-command-line.ts'
import { findStateDirectory } from './cli/state-directory.ts'
import { createTerminalPrompts } from './cli/terminal-prompts.ts'
import { formatError } from './kit/errors.ts'

// A single executable is called by its own name or by a link. Otherwise Node runs this file, and its path is
// the first argument.
const programPath = isSea() ? process.argv0 : (process.argv[1] ?? 'hyperkube')

// Only the first Ctrl-C is handled, so the second one ends the process at once.
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())

const { stdin, stdout, stderr, platform, env } = process
// Describes a terminal that can move the cursor. A terminal that does not know its size reports 0.
const createScreen = (stream: typeof stdout | typeof stderr) =>
  stream.isTTY && env['TERM'] !== 'dumb'
    ? { size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }) }
    : undefined
const terminal = stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : undefined

runCommandLine(programPath, process.argv.slice(2), {
  ...createLocalFiles(),
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
  commandLogs: createCommandLogStore(() => findStateDirectory({ platform, env, home: homedir })),
  fetcher: retryingFetcher(httpFetcher()),
  web: retryingRegistryTransport(httpRegistryTransport()),
  bundles: bundleDisk(),
  now: () => new Date(),
  operator: {
    user: userInfo().username,
    home: homedir(),
    machine: hostname(),
    sshAgent: env['SSH_AUTH_SOCK'],
  },
  findRelease: async (arch, os) => findAgentRelease(arch, os, isSea() ? process.execPath : undefined),
  configDirectory: () => findConfigDirectory({ platform, env, home: homedir }),
  cacheDirectory: () => findCacheDirectory({ platform, env, home: homedir }),
  openPrompts: terminal && ((signal) => createTerminalPrompts(terminal, signal)),
  signal: interruption.signal,
}).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`UNEXPECTED: ${formatError(error)}\n`)
    process.exitCode = 1
  },
)
