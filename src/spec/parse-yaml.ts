import { Composer, type Document, Lexer, type LineCounter, Parser } from 'yaml'

/**
 * Maximum number of tokens of a cluster.yml. A host has about 60, so this suffices for 6,000 hosts. Time and
 * memory of the parser grow with the number of tokens and not with the length of the text.
 */
const maxTokens = 400_000

/** Parses YAML documents like `parseAllDocuments` of the library. Returns undefined if there are too many tokens. */
export function parseBoundedYaml(text: string, lines: LineCounter): readonly Document.Parsed[] | undefined {
  const composer = new Composer({
    // The check of the library compares each key with all others; `findDuplicateKeys` takes linear time.
    uniqueKeys: false,
    // By default the YAML library prints warnings to the terminal.
    logLevel: 'error',
  })
  const parser = new Parser(lines.addNewLine)
  const documents: Document.Parsed[] = []
  let tokenCount = 0
  // The parser reports only the beginnings of later lines.
  lines.addNewLine(0)
  for (const source of new Lexer().lex(text)) {
    tokenCount += 1
    if (tokenCount > maxTokens) return undefined
    for (const token of parser.next(source)) documents.push(...composer.next(token))
  }
  for (const token of parser.end()) documents.push(...composer.next(token))
  return [...documents, ...composer.end()]
}
