import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { listOperatorCommands, operatorCommands } from './command-table.ts'
import { isCommandGroup, type Subcommand } from './command/command.ts'
import { buildSilentCommand } from './command/help.ts'
import { runHyperkube } from './testing/run-in-memory.ts'

const commands = await listOperatorCommands()
/** Lists the names of all groups, for example `etcd` and `etcd snapshot`. */
function listGroupNames(prefix: string, { name, definition }: Omit<Subcommand, 'summary'>): string[] {
  if (!isCommandGroup(definition)) return []
  const group = `${prefix}${name}`
  const groups = definition.subcommands.flatMap((one) => listGroupNames(`${group} `, one))
  // The help of a group with a command of its own is the help of that command.
  return definition.own === undefined ? [group, ...groups] : groups
}

test('the help of every command and subcommand is in one golden file', async () => {
  const groups = await Promise.all(
    operatorCommands().map(async ({ name, load }) => listGroupNames('', { name, definition: await load() })),
  )
  const names = ['', ...groups.flat(), ...commands.map(({ name }) => name)]
  const texts: string[] = []
  for (const name of names) {
    const { code, stdout, stderr } = await runHyperkube(`help ${name}`.trim())
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' })
    texts.push(`$ hyperkube ${`help ${name}`.trim()}\n${stdout}`)
  }
  await expect(texts.join('\n')).toMatchFileSnapshot('testdata/help.txt')
})

test('help SUBCOMMAND is the same as SUBCOMMAND --help', async () => {
  const { stdout } = await runHyperkube('help etcd snapshot save')
  expect(stdout).toBe((await runHyperkube('etcd snapshot save --help')).stdout)
})

describe.each(commands.map((named) => [named.name, named] as const))('%s', (name, named) => {
  test('accepts every flag that its help shows', () => {
    for (const option of buildSilentCommand(named).options) {
      const command = new Command().exitOverride().allowUnknownOption(false)
      command.addOption(option)
      const value = option.argChoices?.[0] ?? '1m'
      const flag = option.long ?? option.short ?? ''
      const args = option.required ? [flag, value] : [flag]
      // Values of a flag with its own parser are not tested here, because the tests of that parser check
      // them.
      if (option.parseArg === undefined || option.argChoices !== undefined)
        command.parse(args, { from: 'user' })
      expect(flag).toMatch(/^--[a-z]/)
    }
  })

  test.each(named.definition.examples.map(([line]) => line))('has a valid example: %s', (line) => {
    // Examples of kubectl are skipped, because hyperkube does not parse the arguments of kubectl.
    if (!line.startsWith('hyperkube ') || name === 'kubectl') return
    const words = splitShellWords(line)
    const own = commands.findLast((one) => startsWith(words, one.name.split(' ')))
    expect(own?.name, `${name}: ${line}`).toBeDefined()
    if (own === undefined) return
    const command = buildSilentCommand(own)
    command.parse(words.slice(own.name.split(' ').length), { from: 'user' })
  })
})

function startsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word)
}

/** Splits an example into words after `hyperkube`, without a redirection at its end. */
function splitShellWords(line: string): string[] {
  const [command = ''] = line.split(' > ')
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1)
}
