import { dirname } from 'node:path'
import type { FactSource, FileSystemSpace } from '../source.ts'

/** For tests: the content of a fake host. */
export interface FakeHostContent {
  readonly arch?: string
  readonly interfaces?: ReturnType<FactSource['interfaces']>
  /** File contents, keyed by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Targets of links, keyed by path. */
  readonly links?: Readonly<Record<string, string>>
  /** File system space, keyed by path. */
  readonly spaces?: Readonly<Record<string, FileSystemSpace>>
  /** Output of commands, keyed by command line. All other commands fail. */
  readonly commands?: Readonly<Record<string, string>>
}

export function createFakeFactSource(content: FakeHostContent): FactSource {
  const { arch = 'x64', interfaces = {}, files = {}, links = {}, spaces = {}, commands = {} } = content
  const paths = [...Object.keys(files), ...Object.keys(links)]
  const listChildren = (directory: string): string[] => {
    const descendants = paths.filter((path) => path.startsWith(`${directory}/`))
    return [...new Set(descendants.map((path) => path.slice(directory.length + 1).split('/')[0] ?? ''))]
  }
  return {
    arch,
    now: () => new Date('2026-11-15T12:00:00Z'),
    interfaces: () => interfaces,
    readFile: async (path) => files[path],
    exists: async (path) => paths.includes(path) || listChildren(path).length > 0,
    listDirectory: async (path) => listChildren(path).toSorted(),
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
