import type { Fact, LinuxFacts } from './fact.ts'

export const readDistribution: Fact<'distribution'> = async ({ readFile }) =>
  parseRelease((await readFile('/etc/os-release')) ?? (await readFile('/usr/lib/os-release')) ?? '')

/** Parses os-release, whose values are quoted as in a shell. Rolling distributions have no version. */
export function parseRelease(text: string): LinuxFacts['distribution'] {
  const lines = text.matchAll(/^([A-Z_]+)=(.*)$/gm)
  const values: Readonly<Record<string, string>> = Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [name, unquote(value.trim())]),
  )
  const { ID = 'linux', VERSION_ID = '', NAME = 'Linux', PRETTY_NAME = NAME } = values
  return { id: ID, version: VERSION_ID, name: PRETTY_NAME }
}

function unquote(value: string): string {
  const unquoted = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
  return unquoted.replaceAll(/\\(["'$`\\])/g, '$1')
}
