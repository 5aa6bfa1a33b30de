import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { listOperatorCommands } from '../src/cli/command-table.ts'
import { parseTutorial, replaceOutputs, shortenOutput } from './tutorial.ts'

const page = await readFile(join(import.meta.dirname, '../docs/tutorial/first-cluster.md'), 'utf8')
const steps = parseTutorial(page)

const small = `Text.

<!-- run: one -->
\`\`\`sh
echo 1
\`\`\`

\`\`\`text
1
\`\`\`

<!-- file: two.yaml -->
\`\`\`yaml
a: b
\`\`\`
`

test('parseTutorial reads commands, outputs and files in order', () => {
  expect(parseTutorial(small)).toEqual([
    { kind: 'run', name: 'one', commands: 'echo 1\n', output: '1\n' },
    { kind: 'file', name: 'two.yaml', content: 'a: b\n' },
  ])
})

test('a comment without its blocks, and a duplicate name, are errors', () => {
  expect(() => parseTutorial(small.replace('```text', '```'))).toThrow('the comment one')
  expect(() => parseTutorial(small + small)).toThrow('not unique')
})

test('replaceOutputs changes only outputs', () => {
  const outputs = new Map([['one', '$& 2\n\n']])
  expect(replaceOutputs(small, outputs)).toBe(small.replace('```text\n1', () => '```text\n$& 2'))
  expect(() => replaceOutputs(small, new Map())).toThrow('no output of one')
})

test('a long output keeps its start and its end', () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
  const short = shortenOutput(lines.join('\n')).split('\n')
  expect(short).toHaveLength(27)
  expect(short[14]).toBe('… 14 more lines …')
  expect(short.at(-1)).toBe('line 39')
  expect(shortenOutput('a\nb\n')).toBe('a\nb')
})

test('every command of the tutorial exists', async () => {
  const names = new Set((await listOperatorCommands()).map(({ name }) => name.split(' ')[0]))
  const used = steps.flatMap((step) =>
    step.kind === 'run' ? [...step.commands.matchAll(/hyperkube ([a-z-]+)/g)].map(([, name]) => name) : [],
  )
  expect(used.length).toBeGreaterThan(10)
  expect(used.filter((name) => !names.has(name))).toEqual([])
})

test('every file of the tutorial is valid YAML', () => {
  const files = steps.flatMap((step) => (step.kind === 'file' ? [step.content] : []))
  expect(files).not.toEqual([])
  for (const file of files)
    expect(
      parseAllDocuments(file).flatMap((document) => ('errors' in document ? document.errors : [])),
    ).toEqual([])
})
