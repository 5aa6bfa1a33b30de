import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { anything, assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { plumbing, powershellCommands } from '../../../../../lab/windows/simulator/powershell-commands.ts'
import { allOperations } from '../../windows-operations/table.ts'
import { formatOpeningLine, formatRequestLine, readHostScript } from './session.ts'

const script = await readHostScript()
const blocks = new Map(
  [...script.matchAll(/^\$operations\['([a-z.]+)'\] = \{\n(.*?)^\}/gms)].map(
    ([, name = '', body = '']) => [name, body] as const,
  ),
)
/** Names of the functions that the script defines. */
const own = new Set([...script.matchAll(/^function ([A-Za-z-]+)/gm)].map(([, name = '']) => name))

/**
 * Lists the commands with which a part of the script accesses the host: Verb-Noun commands, .exe programs,
 * .NET methods and calls to HNS.
 */
function commandsIn(text: string): string[] {
  const found = [
    ...text.matchAll(/(?<![\w$'.-])([A-Z][a-z]+-[A-Z]\w+)(?!\w)/g),
    ...text.matchAll(/& (\w+\.exe)/g),
    ...text.matchAll(/(\[(?:IO\.File|Environment)\]::\w+)\(/g),
    ...text.matchAll(/# (HNSCall)$/gm),
  ].map(([, name = '']) => name)
  return [...new Set(found)].filter((name) => !own.has(name) && !plumbing.includes(name)).toSorted()
}

test('the script has exactly the operations of the table', () => {
  expect([...blocks.keys()].toSorted()).toEqual(allOperations.map(({ name }) => name).toSorted())
  expect(script.match(/^\$operations\[/gm)?.length).toBe(blocks.size)
})

test.each(allOperations)('$name runs the commands that the table names', ({ name, uses }) => {
  expect(commandsIn(blocks.get(name) ?? '')).toEqual(uses.toSorted())
})

test('every command of the script is reviewed, and every review is of a used command', () => {
  const used = new Set(allOperations.flatMap(({ uses }) => uses))
  expect(Object.keys(powershellCommands).toSorted()).toEqual([...used].toSorted())
  for (const block of blocks.values()) expect(block.includes('# HNSCall')).toBe(block.includes('Invoke-Hns '))
  // Code outside the operations does not access the host.
  const outside = script.replaceAll(/^\$operations\['[a-z.]+'\] = \{\n.*?^\}/gms, '')
  expect(commandsIn(outside.replaceAll(/^#.*$/gm, ''))).toEqual([])
})

test.each(allOperations.filter(({ changes }) => !changes))(
  '$name has no command that changes anything',
  ({ uses }) => {
    expect(uses.filter((name) => !/^(?:Get|Test)-|^HNSCall$|::(?:Get|Read)/.test(name))).toEqual([])
  },
)

test('the script never executes a value as code', () => {
  expect(script).not.toMatch(
    /Invoke-Expression|\biex\b|AddScript|InvokeScript|NewScriptBlock|\[scriptblock\]/i,
  )
  // Double-quoted strings are expanded, so the script must not contain any. The only double quotes are in a
  // C# declaration inside single-quoted strings.
  expect(script.replaceAll(/'[^'\n]*'/g, '').replaceAll(/#.*$/gm, '')).not.toContain('"')
  expect(script).not.toMatch(/-Filter\b/)
})

test('the script is ASCII, and all its brackets are closed', () => {
  expect(script).toMatch(/^[\x20-\x7e\n]*$/)
  const count = (letter: string): number => script.split(letter).length
  for (const [open = '', close = ''] of ['{}', '()', '[]']) expect(count(open)).toBe(count(close))
})

test('any request becomes one line with one command and one argument', () => {
  assert(
    property(anything(), (input) => {
      const line = formatRequestLine({ id: 1, operation: `'; throw '`, input })
      expect(line).toMatch(/^Invoke-HyperkubeRequest '[A-Za-z0-9+/=]+'\n$/)
    }),
  )
  expect(formatOpeningLine(script)).toMatch(
    /^\. \(\[scriptblock\][A-Za-z0-9:.([\]]+\('[A-Za-z0-9+/=]+'\)+\n$/,
  )
})

test('the script that is sent is the file host.ps1', () => {
  expect(readFileSync(join(import.meta.dirname, 'host.ps1'), 'utf8')).toBe(script)
})
