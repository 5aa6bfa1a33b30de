import { Composer, type Document, isScalar, Lexer, type LineCounter, Parser, visit } from 'yaml'

/**
 * Maximum number of tokens of a file. A host in cluster.yml has about 60, so this suffices for 6,000 hosts.
 * Time and memory of the parser grow with the number of tokens and not with the length of the text.
 */
const maxTokens = 400_000

/**
 * Parses YAML documents like `parseAllDocuments` of the library. Returns undefined if there are too many
 * tokens.
 */
export function parseBoundedYaml(text: string, lines: LineCounter): readonly Document.Parsed[] | undefined {
  const composer = new Composer({
    // The library's own check is off, because it compares each key with all others. `findDuplicateKeys` takes
    // linear time.
    uniqueKeys: false,
    // By default the YAML library prints warnings to the terminal.
    logLevel: 'error',
  })
  const parser = new Parser(lines.addNewLine)
  const documents: Document.Parsed[] = []
  let tokenCount = 0
  // The start of the first line is added here, because the parser reports only the starts of later lines.
  lines.addNewLine(0)
  for (const source of new Lexer().lex(text)) {
    tokenCount += 1
    if (tokenCount > maxTokens) return undefined
    for (const token of parser.next(source)) documents.push(...composer.next(token))
  }
  for (const token of parser.end()) documents.push(...composer.next(token))
  return [...documents, ...composer.end()]
}

/** Returns the offsets of keys that already occurred earlier in the same map. */
export function findDuplicateKeys(document: Document.Parsed): number[] {
  const duplicates: number[] = []
  visit(document, {
    Map(_, { items }) {
      const known = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (known.has(key.value)) duplicates.push(key.range?.[0] ?? 0)
        known.add(key.value)
      }
    },
  })
  return duplicates
}
