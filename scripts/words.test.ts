import { expect, test } from 'vitest'
import { findRepeatedExports, findRetiredWords, readVocabulary, splitName } from './words.ts'

const page = `# Vocabulary

## Retired words

| word | where | use instead |
|---|---|---|
| widget, gear | names, text | inputs |
| look | names | observe |

## Foreign names

| name | of |
|---|---|
| \`lookAhead\`, \`gearBox\` | another program |
`

function find(text: string, file = 'src/a.ts'): string[] {
  return findRetiredWords({ modules: new Map([[file, text]]), documents: new Map(), ...readVocabulary(page) })
}

test('a retired word is found in names, comments and strings, with its line and its replacement', () => {
  expect(find('const myWidget = 1')).toEqual(['src/a.ts:1: "widget" is retired; use: inputs'])
  expect(find('\n// The widget of a step.\n')).toEqual(['src/a.ts:2: "widget" is retired; use: inputs'])
  expect(find("f('no widget here')")).toEqual(['src/a.ts:1: "widget" is retired; use: inputs'])
  expect(find('f(`no ${x} widget`)')).toEqual(['src/a.ts:1: "widget" is retired; use: inputs'])
  expect(find('f(x)', 'src/gear-box.ts')).toEqual(['src/gear-box.ts: "gear" is retired; use: inputs'])
})

test('a word retired only for names is allowed in text, but not in codes and kinds', () => {
  expect(find("// Take a look.\nf('take a look')")).toEqual([])
  expect(find("f('look-at-it')")).toHaveLength(1)
  expect(find("f('HOST_LOOK')")).toHaveLength(1)
  expect(find('x.lookAt()')).toHaveLength(1)
})

test('a retired word inside a longer word is not reported', () => {
  expect(find('const outlook = lookup(1) // overlooked')).toEqual([])
})

test('names of other programs may contain retired words', () => {
  expect(find("x.lookAhead('gearBox')")).toEqual([])
})

test('documents are checked line by line', () => {
  const documents = new Map([['README.md', 'one\ntwo Widget\n']])
  expect(findRetiredWords({ modules: new Map(), documents, ...readVocabulary(page) })).toEqual([
    'README.md:2: "widget" is retired; use: inputs',
  ])
})

test('a name is split at case changes and separators', () => {
  expect(splitName('readHTTPResponse2')).toEqual(['read', 'http', 'response'])
  expect(splitName('src/agent/HOST_GONE')).toEqual(['src', 'agent', 'host', 'gone'])
})

test('an export declared by two modules is reported with both modules', () => {
  const modules = new Map([
    ['src/a.ts', 'export const one = 1\nexport interface Two {}\nexport function two() {}'],
    ['src/b.ts', 'export type Two = 2\nexport class one2 {}'],
    ['src/c.ts', "import type { Two } from './b.ts'\nexport { two } from './a.ts'"],
  ])
  expect(findRepeatedExports(modules)).toEqual(['Two: exported by src/a.ts, src/b.ts'])
})
