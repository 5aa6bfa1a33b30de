import { basename, dirname } from 'node:path'
import { bundleDisk } from '../../bundle/disk.ts'
import type { Fetcher } from '../../catalog/fetcher.ts'
import { memoryFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { memoryWeb } from '../../catalog/registry/testing/fake-transport.ts'
import type { Web } from '../../catalog/registry/transport.ts'
import type { Context, Files } from '../command.ts'
import { Interrupted, type Questions } from '../prompts.ts'
import { runCommandLine } from '../run-command-line.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly files: ReadonlyMap<string, string>
  /** What was asked and shown, one entry each, with what was said against an answer. */
  readonly asked: readonly string[]
}

export interface World {
  readonly called?: string
  readonly fetcher?: Fetcher
  readonly web?: Web
  readonly signal?: AbortSignal
  /** Somebody sits at a terminal and gives these answers; after the last one they interrupt. */
  readonly answers?: readonly (string | boolean)[]
  /** Instead of those in memory. */
  readonly files?: Files
  readonly configDirectory?: string
  readonly cacheDirectory?: string
}

/** Runs a command line against files in memory, for tests. Without a fetcher, no URL has anything behind it. */
export async function hyperkube(
  words: string,
  files: Readonly<Record<string, string>> = {},
  world: World = {},
): Promise<Ran> {
  const { context, ended } = inMemory(files, world)
  const list = words === '' ? [] : words.split(' ')
  return ended(await runCommandLine(world.called ?? 'hyperkube', list, context))
}

export interface InMemory {
  readonly context: Context
  /** All that has happened by now. */
  readonly ended: (code: number) => Ran
}

/** The world that a command line runs in, for tests of what is inside a command. */
export function inMemory(files: Readonly<Record<string, string>>, world: World = {}): InMemory {
  const disk = new Map(Object.entries(files))
  const [stdout, stderr, asked]: [string[], string[], string[]] = [[], [], []]
  const answers = [...(world.answers ?? [])]
  const context: Context = {
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
    paint: (_colour, text) => text,
    paintProgress: (_colour, text) => text,
    screen: undefined,
    resultScreen: undefined,
    every: () => () => undefined,
    runLogs: {
      open: () => ({ path: undefined, problem: undefined, heard: () => undefined, close: () => undefined }),
    },
    ...(world.files ?? filesOf(disk)),
    fetcher: world.fetcher ?? memoryFetcher(() => undefined),
    web: world.web ?? memoryWeb(() => undefined),
    bundles: bundleDisk(),
    operator: { user: 'me', home: '/home/me', machine: 'here', sshAgent: undefined },
    release: async () => Promise.reject(new Error('no executable in tests')),
    now: () => new Date('2026-11-15T12:00:00Z'),
    configDirectory: () => world.configDirectory ?? '/home/me/.config',
    cacheDirectory: () => world.cacheDirectory ?? '/home/me/.cache',
    questions: world.answers && (() => answering(answers, asked)),
    signal: world.signal ?? new AbortController().signal,
  }
  return {
    context,
    ended: (code) => ({ code, stdout: stdout.join(''), stderr: stderr.join(''), files: disk, asked }),
  }
}

function filesOf(disk: Map<string, string>): Files {
  const read = async (path: string): Promise<string> => {
    const text = disk.get(path)
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return text
  }
  const create = async (path: string, text: string): Promise<void> => {
    if (disk.has(path)) throw Object.assign(new Error('file exists'), { code: 'EEXIST' })
    disk.set(path, text)
  }
  const replace = async (path: string, text: string): Promise<void> => void disk.set(path, text)
  return {
    exists: async (path) =>
      path === '.' || disk.has(path) || [...disk.keys()].some((file) => file.startsWith(`${path}/`)),
    readFile: read,
    listDirectory: async (path) => {
      const names = [...disk.keys()].filter((file) => dirname(file) === path).map((file) => basename(file))
      if (names.length === 0) throw Object.assign(new Error('no such directory'), { code: 'ENOENT' })
      return names
    },
    createFile: create,
    replaceFile: replace,
    privateFiles: { read, create, replace },
    makePrivateDirectory: async () => undefined,
  }
}

/** Whoever asks next gets the answers that are left. */
function answering(left: (string | boolean)[], asked: string[]): Questions {
  const next = (message: string): string | boolean => {
    asked.push(message)
    const answer = left.shift()
    if (answer === undefined) throw new Interrupted()
    return answer
  }
  return {
    begin: async (text) => void asked.push(text),
    async text({ message, fallback = '', check }) {
      for (;;) {
        const answer = String(next(message)) || fallback
        const wrong = check(answer)
        if (wrong === undefined) return answer
        asked.push(`${answer}: ${wrong}`)
      }
    },
    async select({ message, choices, fallback }) {
      const answer = next(message)
      return choices.find(({ value }) => value === answer)?.value ?? fallback
    },
    confirm: async ({ message }) => next(message) === true,
    show: async (title, text) => void asked.push(`${title}\n${text}`),
    end: async (text) => void asked.push(text),
  }
}
