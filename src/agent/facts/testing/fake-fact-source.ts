import { dirname } from 'node:path'
import type { FactSource, Space } from '../source.ts'

/** For tests: what a host would say. */
export interface Said {
  readonly arch?: string
  readonly interfaces?: ReturnType<FactSource['interfaces']>
  /** By path. */
  readonly files?: Readonly<Record<string, string>>
  /** By path, where each leads. */
  readonly links?: Readonly<Record<string, string>>
  /** By path. */
  readonly spaces?: Readonly<Record<string, Space>>
  /** What a command line prints that succeeds. All others fail. */
  readonly commands?: Readonly<Record<string, string>>
}

export function inMemory(said: Said): FactSource {
  const { arch = 'x64', interfaces = {}, files = {}, links = {}, spaces = {}, commands = {} } = said
  const paths = [...Object.keys(files), ...Object.keys(links)]
  const childrenOf = (directory: string): string[] => {
    const below = paths.filter((path) => path.startsWith(`${directory}/`))
    return [...new Set(below.map((path) => path.slice(directory.length + 1).split('/')[0] ?? ''))]
  }
  return {
    arch,
    now: () => new Date('2026-11-15T12:00:00Z'),
    interfaces: () => interfaces,
    readFile: async (path) => files[path],
    exists: async (path) => paths.includes(path) || childrenOf(path).length > 0,
    listDirectory: async (path) => childrenOf(path).toSorted(),
    readLink: async (path) => links[path],
    readLinks: async (directory) =>
      Object.entries(links).flatMap(([path, target]) => (dirname(path) === directory ? [target] : [])),
    space: async (path) => spaces[path],
    run: async (argv) => {
      const stdout = commands[argv.join(' ')]
      return stdout === undefined ? { code: 127, stdout: '' } : { code: 0, stdout }
    },
  }
}
