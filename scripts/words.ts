import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readExportedNames, readSourceText } from './source-text.ts'

/** One row of the retired words in docs/contributing/vocabulary.md. */
export interface RetiredWord {
  readonly word: string
  readonly names: boolean
  readonly text: boolean
  readonly use: string
}

export interface WordsInput {
  /** Text of TypeScript modules, by path. */
  readonly modules: ReadonlyMap<string, string>
  /** Text of documents, by path. */
  readonly documents: ReadonlyMap<string, string>
  readonly retired: readonly RetiredWord[]
  /** Identifiers of other programs that contain a retired word. */
  readonly foreign: ReadonlySet<string>
}

/**
 * Reads the two tables that this check enforces: retired words, and identifiers of other programs that may
 * contain a retired word.
 */
export function readVocabulary(vocabularyPage: string): { retired: RetiredWord[]; foreign: Set<string> } {
  const rows = (heading: string) =>
    (vocabularyPage.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(1)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
  const retired = rows('Retired words').flatMap(([words = '', where = '', use = '']) =>
    words.split(', ').map((word) => ({
      word,
      names: where.includes('names'),
      text: where.includes('text'),
      use,
    })),
  )
  const foreign = rows('Foreign names').flatMap(([names = '']) => names.replaceAll('`', '').split(', '))
  return { retired, foreign: new Set(foreign) }
}

/** Splits an identifier, a path or a code into words in lower case. */
export function splitName(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}

/** Lists every use of a retired word as a message with file and line. */
export function findRetiredWords({ modules, documents, retired, foreign }: WordsInput): string[] {
  const inNames = new Map(retired.filter(({ names }) => names).map((row) => [row.word, row]))
  const inText = new Map(retired.filter(({ text }) => text).map((row) => [row.word, row]))
  const report = (where: string, found: Iterable<string>, rows: ReadonlyMap<string, RetiredWord>) =>
    [...found].flatMap((word) => {
      const row = rows.get(word)
      return row === undefined ? [] : [`${where}: "${word}" is retired; use: ${row.use}`]
    })
  const splitText = (text: string) => text.toLowerCase().split(/[^a-z]+/)
  const inModules = [...modules].flatMap(([file, source]) => [
    ...report(file, splitName(file), inNames),
    ...readSourceText(file, source).flatMap(({ kind, text, line }) => {
      const where = `${file}:${line}`
      if (kind === 'name') return foreign.has(text) ? [] : report(where, splitName(text), inNames)
      if (kind === 'string' && isName(text))
        return foreign.has(text) ? [] : report(where, splitName(text), inNames)
      return report(where, splitText(text), inText)
    }),
  ])
  const inDocuments = [...documents].flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => report(`${file}:${index + 1}`, splitText(line), inText)),
  )
  return [...inModules, ...inDocuments]
}

/** True for a code, a kind or a protocol value; false for a sentence. */
function isName(text: string): boolean {
  return /^[A-Za-z][\w]*(?:[-.][\w]+)*$/.test(text)
}

/** Lists exported names that more than one module declares, with these modules. */
export function findRepeatedExports(modules: ReadonlyMap<string, string>): string[] {
  const declared = [...modules].flatMap(([file, source]) =>
    readExportedNames(file, source).map((name) => ({ name, file })),
  )
  return Object.entries(Object.groupBy(declared, ({ name }) => name))
    .filter(([, uses = []]) => uses.length > 1)
    .map(([name, uses = []]) => `${name}: exported by ${uses.map(({ file }) => file).join(', ')}`)
}

/** Reads all modules and documents of the repository that the check covers. */
export function readRepository(root: string): Pick<WordsInput, 'modules' | 'documents'> {
  const read = (pattern: string, skip: (path: string) => boolean) =>
    new Map(
      globSync(pattern, { cwd: root })
        .filter((path) => !skip(path))
        .toSorted()
        .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
    )
  return {
    modules: read('{src,lab,test,scripts,docs/.vitepress}/**/*.ts', (path) =>
      path.includes('/.vitepress/cache/'),
    ),
    documents: read(
      '{*.md,docs/**/*.md,examples/**/*}',
      (path) => !/\.(?:md|ya?ml)$/.test(path) || path === vocabularyPage || isInstalled(path),
    ),
  }
}

/** True for files that `npm ci` installed below docs/. */
export function isInstalled(file: string): boolean {
  return file.startsWith('docs/node_modules/')
}

export function isProduct(file: string): boolean {
  return file.startsWith('src/') && !file.endsWith('.test.ts') && !file.includes('/testing/')
}

const vocabularyPage = 'docs/contributing/vocabulary.md'

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const repository = readRepository(root)
  const words = findRetiredWords({
    ...repository,
    ...readVocabulary(readFileSync(join(root, vocabularyPage), 'utf8')),
  })
  const product = [...repository.modules].filter(([file]) => isProduct(file))
  const repeated = findRepeatedExports(new Map(product))
  for (const line of [...words, ...repeated]) process.stderr.write(`${line}\n`)
  process.stderr.write(
    `words: ${repository.modules.size} modules, ${repository.documents.size} documents, ` +
      `${words.length} retired words, ${repeated.length} exported names with more than one meaning\n`,
  )
  process.exitCode = words.length + repeated.length === 0 ? 0 : 1
}
