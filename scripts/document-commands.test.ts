import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildSilentCommand } from '../src/cli/command/help.ts'
import { listOperatorCommands } from '../src/cli/command-table.ts'

const root = join(import.meta.dirname, '..')
/** Evidence records the commands of its day. */
const documents = globSync(['README.md', 'docs/**/*.md'], { cwd: root }).filter(
  (file) => !/^docs\/(?:evidence|node_modules)\//.test(file),
)
const flagsByCommand = new Map(
  (await listOperatorCommands()).map((named) => [
    named.name,
    new Set(['--help', ...buildSilentCommand(named).options.flatMap(({ long }) => long ?? [])]),
  ]),
)
const groups = new Set([...flagsByCommand.keys()].map((name) => name.split(' ')[0]))

/** Lists the commands in code spans and code blocks that begin with `hyperkube`. */
function listCommands(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].flatMap(([, block = '']) =>
    block.split('\n').map((line) => line.replace(/\s#.*$/, '')),
  )
  const spans = [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
  return [...blocks, ...spans].filter((line) => /^\s*hyperkube [a-z]/.test(line)).map((line) => line.trim())
}

/** Returns what is wrong with a command, or undefined. */
function findProblem(line: string): string | undefined {
  const words = (line.split(/ (?:[|>&]|&&) /)[0] ?? '').split(/\s+/).slice(1)
  // Commands that hosts run are not in the table. `a|b` and `rotate-…` stand for several commands.
  if (!groups.has(words[0]) || /[|…]/.test(words[1] ?? '')) return undefined
  const name = [3, 2, 1]
    .map((count) => words.slice(0, count).join(' '))
    .find((one) => flagsByCommand.has(one))
  if (name === undefined) return words.length === 1 ? undefined : `no command: ${line}`
  if (name === 'kubectl') return undefined
  const flags = words.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? [])
  const unknown = flags.find((flag) => flagsByCommand.get(name)?.has(flag) !== true)
  return unknown === undefined ? undefined : `no flag ${unknown}: ${line}`
}

test.each(documents)('%s names only commands and flags that exist', (file) => {
  const text = readFileSync(join(root, file), 'utf8')
  expect(listCommands(text).flatMap((line) => findProblem(line) ?? [])).toEqual([])
})
