import { expect, test } from 'vitest'
import { commandTable } from '../command-table.ts'
import { type CommandDefinition, isCommandGroup } from './command.ts'
import { commandsWithoutFile, completeSuggestions, withCompleteSuggestions } from './complete-commands.ts'

const complete = (text: string): string => completeSuggestions(text, '--file prod/cluster.yml')

test('commands in hints and in actions of doctor get the file', () => {
  expect(complete('  → hyperkube lock, then hyperkube up\n')).toBe(
    '  → hyperkube --file prod/cluster.yml lock, then hyperkube --file prod/cluster.yml up\n',
  )
  expect(complete('  \u{1B}[1maction\u{1B}[22m      hyperkube logs etcd --limit cp1')).toContain(
    'hyperkube --file prod/cluster.yml logs etcd --limit cp1',
  )
})

test('other text, commands that name a file and commands without cluster.yml stay as they are', () => {
  for (const text of [
    'hyperkube up creates the cluster\n',
    '{"hint":"hyperkube up"}\n',
    '  → to resume: hyperkube up -f prod/cluster.yml\n',
    '  → hyperkube bundle verify FILE\n',
    '  → hyperkube version\n',
    '  → rm /opt/hyperkube up\n',
    '  → the agent of hyperkube 0.1.0\n',
  ])
    expect(complete(text)).toBe(text)
})

test.each([
  [['lock', '-f', 'prod.yml'], '  → hyperkube --file prod.yml up\n'],
  [['logs', '-f', 'etcd'], '  → hyperkube up\n'],
  [['lock', '-f', 'cluster.yml'], '  → hyperkube up\n'],
  [['lock'], '  → hyperkube up\n'],
])('after %j a hint is %j', (args, expected) => {
  const written: string[] = []
  const output = { write: (text: string) => written.push(text) }
  const context = withCompleteSuggestions({ stdout: output, stderr: output }, args)
  context.stderr.write('  → hyperkube up\n')
  expect(written).toEqual([expected])
})

test('every command that suggestions may name accepts --file, apart from those that are listed', async () => {
  const operatorEntries = commandTable.filter(({ runBy }) => runBy !== 'service')
  const paths = await Promise.all(
    operatorEntries.map(async ({ name, load }) => listPathsWithoutFile(name, await load())),
  )
  const isListed = (path: string): boolean =>
    commandsWithoutFile.some((listed) => path === listed || path.startsWith(`${listed} `))
  expect(paths.flat().filter((path) => !isListed(path))).toEqual([])
})

function listPathsWithoutFile(path: string, definition: CommandDefinition): string[] {
  if (isCommandGroup(definition))
    return definition.subcommands.flatMap((one) =>
      listPathsWithoutFile(`${path} ${one.name}`, one.definition),
    )
  const hasFile = definition.sharedFlags.some((flag) =>
    ['file', 'long-file', 'new-file', 'any-file'].includes(flag),
  )
  return hasFile ? [] : [path]
}
