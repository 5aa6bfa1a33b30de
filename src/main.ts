import { homedir, hostname, userInfo } from 'node:os'
import { isSea } from 'node:sea'
import { styleText } from 'node:util'
import { bundleDisk } from './bundle/disk.ts'
import { httpFetcher, retryingFetcher } from './catalog/fetcher.ts'
import { httpTransport, retryingTransport } from './catalog/transport.ts'
import { createTerminalPrompts } from './cli/command/terminal-prompts.ts'
import { createCommandLogStore } from './cli/environment/command-log.ts'
import {
  findCacheDirectory,
  findConfigDirectory,
  findStateDirectory,
} from './cli/environment/operator-directories.ts'
import { createLocalFiles } from './cli/environment/local-files.ts'
import { runForeground } from './cli/environment/run-foreground.ts'
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

// Loaded only when needed, because every service starts this program and few commands render charts.
const loadChartRenderer = async () => {
  const { createChartRenderer } = await import('./cli/environment/chart-renderer.ts')
  return createChartRenderer({
    bundles: bundleDisk(),
    cacheDirectory: () => findCacheDirectory({ platform, env, home: homedir }),
    writeLine: (line) => stderr.write(`${line}\n`),
  })
}

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
  runForeground: async (argv, variables) => runForeground(argv, { ...env, ...variables }),
  commandLogs: createCommandLogStore(() => findStateDirectory({ platform, env, home: homedir })),
  environment: {
    workingDirectory: process.cwd(),
    file: env['HYPERKUBE_FILE'] || undefined,
    key: env['HYPERKUBE_KEY_FILE'] || undefined,
    kubeconfig: env['KUBECONFIG'] || undefined,
  },
  connect: (route) => ({
    fetcher: retryingFetcher(httpFetcher(route)),
    web: retryingTransport(httpTransport(route)),
  }),
  // The digests are loaded only when needed, because every service starts this program and few commands read
  // the digests.
  releaseDigests: async () => (await import('./catalog/release-digests.ts')).readShippedDigests(),
  bundles: bundleDisk(),
  charts: {
    computeDigest: async (path, signal) => (await loadChartRenderer()).computeDigest(path, signal),
    render: async (request, signal) => (await loadChartRenderer()).render(request, signal),
  },
  now: () => new Date(),
  operator: {
    user: userInfo().username,
    home: homedir(),
    machine: hostname(),
    sshAgent: env['SSH_AUTH_SOCK'],
  },
  findRelease: async (arch, os, origin) => {
    const { findAgentRelease, readReleaseTable } = await import('./cli/environment/agent-release.ts')
    const deps = {
      executable: isSea() ? process.execPath : undefined,
      cacheDirectory: () => findCacheDirectory({ platform, env, home: homedir }),
      table: await readReleaseTable(),
      url: env['HYPERKUBE_RELEASE_URL'] || undefined,
      writeLine: (line: string) => stderr.write(`${line}\n`),
    }
    return findAgentRelease(arch, os, deps, origin)
  },
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
