import { createHash } from 'node:crypto'
import { bundleDisk } from '../../bundle/disk.ts'
import { fakeRegistryTransport } from '../../catalog/registry/testing/fake-transport.ts'
import type { Fetcher } from '../../catalog/fetcher.ts'
import { emptyReleaseDigests, type ReleaseDigests } from '../../catalog/release-digests.ts'
import type { HttpTransport } from '../../catalog/transport.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import type { LocalFiles } from '../../workspace/context.ts'
import type { CommandContext } from '../command/command.ts'
import { createChartRenderer } from '../environment/chart-renderer.ts'
import { Interrupted, type Prompts } from '../command/prompts.ts'
import { runCommandLine } from '../run-command-line.ts'

export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly files: ReadonlyMap<string, string>
  /** All prompts and notes, one entry each, and an entry for the error of each rejected reply. */
  readonly prompts: readonly string[]
}

export interface InMemoryOptions {
  readonly programPath?: string
  readonly fetcher?: Fetcher
  readonly web?: HttpTransport
  /** Replaces `fetcher` and `web`, for tests of the route. */
  readonly connect?: CommandContext['connect']
  readonly releaseDigests?: ReleaseDigests
  readonly signal?: AbortSignal
  /** Replies of a fake operator to prompts, in order. A prompt for which no reply is left is interrupted. */
  readonly replies?: readonly (string | boolean)[]
  /** Used instead of the files in memory. */
  readonly files?: LocalFiles
  readonly environment?: Partial<CommandContext['environment']>
  readonly configDirectory?: string
  readonly cacheDirectory?: string
  /** Public key of releases in the program. */
  readonly releaseKey?: string
}

/** Runs a command line on files in memory, for tests. Without a fetcher, no URL can be fetched. */
export async function runHyperkube(
  commandLine: string,
  files: Readonly<Record<string, string>> = {},
  options: InMemoryOptions = {},
): Promise<CliResult> {
  const { context, collectResult } = createInMemoryContext(files, options)
  const args = commandLine === '' ? [] : commandLine.split(' ')
  return collectResult(await runCommandLine(options.programPath ?? 'hyperkube', args, context))
}

export interface InMemoryContext {
  readonly context: CommandContext
  /** Returns the given exit code with all output written so far. */
  readonly collectResult: (code: number) => CliResult
}

/** Creates the context of a command on files in memory, for tests of code inside a command. */
export function createInMemoryContext(
  files: Readonly<Record<string, string>>,
  options: InMemoryOptions = {},
): InMemoryContext {
  const contents = new Map(Object.entries(files))
  const [stdout, stderr, prompts]: [string[], string[], string[]] = [[], [], []]
  const replies = [...(options.replies ?? [])]
  const context: CommandContext = {
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
    paint: (_colour, text) => text,
    paintProgress: (_colour, text) => text,
    screen: undefined,
    resultScreen: undefined,
    repeat: () => () => undefined,
    runForeground: async () => Promise.reject(new Error('no programs in tests')),
    startHelper: undefined,
    processors: 1,
    commandLogs: {
      open: () => ({ path: undefined, problem: undefined, onEvent: () => undefined, close: () => undefined }),
      list: () => [],
      read: () => '',
    },
    stateDirectory: () => '/home/me/.local/state',
    readReleaseKey: async () => options.releaseKey,
    environment: {
      workingDirectory: '/',
      file: undefined,
      key: undefined,
      kubeconfig: undefined,
      ...options.environment,
    },
    ...(options.files ?? createFakeFiles(contents)),
    connect:
      options.connect ??
      (() => ({
        fetcher: options.fetcher ?? fakeFetcher(() => undefined),
        web: options.web ?? fakeRegistryTransport(() => undefined),
      })),
    releaseDigests: async () => options.releaseDigests ?? emptyReleaseDigests,
    bundles: bundleDisk(),
    charts: createChartRenderer({
      bundles: bundleDisk(),
      cacheDirectory: () => options.cacheDirectory ?? '/home/me/.cache',
      writeLine: (line) => stderr.push(`${line}\n`),
    }),
    operator: { user: 'me', home: '/home/me', machine: 'here', sshAgent: undefined },
    findRelease: async () => Promise.reject(new Error('no executable in tests')),
    now: () => new Date('2026-11-15T12:00:00Z'),
    configDirectory: () => options.configDirectory ?? '/home/me/.config',
    cacheDirectory: () => options.cacheDirectory ?? '/home/me/.cache',
    openPrompts: options.replies && (() => createFakePrompts(replies, prompts)),
    signal: options.signal ?? new AbortController().signal,
  }
  return {
    context,
    collectResult: (code) => ({
      code,
      stdout: stdout.join(''),
      stderr: stderr.join(''),
      files: contents,
      prompts,
    }),
  }
}

function createFakeFiles(contents: Map<string, string>): LocalFiles {
  const read = async (path: string): Promise<string> => {
    const text = contents.get(path)
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return text
  }
  const create = async (path: string, text: string): Promise<void> => {
    if (contents.has(path)) throw Object.assign(new Error('file exists'), { code: 'EEXIST' })
    contents.set(path, text)
  }
  const replace = async (path: string, text: string): Promise<void> => void contents.set(path, text)
  return {
    exists: async (path) =>
      path === '.' || contents.has(path) || [...contents.keys()].some((file) => file.startsWith(`${path}/`)),
    readFile: read,
    hashFile: async (path) =>
      createHash('sha256')
        .update(await read(path))
        .digest('hex'),
    listDirectory: async (path) => {
      const prefix = path === '.' ? '' : `${path}/`
      const names = new Set(
        [...contents.keys()]
          .filter((file) => file.startsWith(prefix))
          .flatMap((file) => file.slice(prefix.length).split('/')[0] ?? []),
      )
      if (names.size === 0) throw Object.assign(new Error('no such directory'), { code: 'ENOENT' })
      return [...names]
    },
    createFile: create,
    replaceFile: replace,
    privateFiles: { read, mode: async () => 0o600, create, replace },
    makePrivateDirectory: async () => undefined,
  }
}

/** Prompts that take the remaining replies in order. */
function createFakePrompts(remaining: (string | boolean)[], prompts: string[]): Prompts {
  const takeReply = (message: string): string | boolean => {
    prompts.push(message)
    const reply = remaining.shift()
    if (reply === undefined) throw new Interrupted()
    return reply
  }
  const promptText: Prompts['text'] = async ({ message, fallback = '', check }) => {
    for (;;) {
      const reply = String(takeReply(message)) || fallback
      const problem = check(reply)
      if (problem === undefined) return reply
      prompts.push(`${reply}: ${problem}`)
    }
  }
  return {
    begin: async (text) => void prompts.push(text),
    text: promptText,
    password: promptText,
    async select({ message, choices, fallback }) {
      const reply = takeReply(message)
      return choices.find(({ value }) => value === reply)?.value ?? fallback
    },
    confirm: async ({ message }) => takeReply(message) === true,
    show: async (title, text) => void prompts.push(`${title}\n${text}`),
    end: async (text) => void prompts.push(text),
  }
}
