import type { Fetcher } from '../catalog/fetcher.ts'
import { memoryFetcher } from '../catalog/memory-fetcher.ts'
import type { Context } from './command.ts'
import { runCommandLine } from './run.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly files: ReadonlyMap<string, string>
}

export interface World {
  readonly called?: string
  readonly fetcher?: Fetcher
  readonly signal?: AbortSignal
}

/** Runs a command line against files in memory, for tests. Without a fetcher, no URL has anything behind it. */
export async function hyperkube(
  words: string,
  files: Readonly<Record<string, string>> = {},
  world: World = {},
): Promise<Ran> {
  const disk = new Map(Object.entries(files))
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const context: Context = {
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
    readFile: async (path) => {
      const text = disk.get(path)
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
      return text
    },
    createFile: async (path, text) => {
      if (disk.has(path)) throw Object.assign(new Error('file exists'), { code: 'EEXIST' })
      disk.set(path, text)
    },
    replaceFile: async (path, text) => void disk.set(path, text),
    fetcher: world.fetcher ?? memoryFetcher(() => undefined),
    signal: world.signal ?? new AbortController().signal,
  }
  const code = await runCommandLine(
    world.called ?? 'hyperkube',
    words === '' ? [] : words.split(' '),
    context,
  )
  return { code, stdout: stdout.join(''), stderr: stderr.join(''), files: disk }
}
