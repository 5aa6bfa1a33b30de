import { LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'

/** One document of a YAML text. Lines and columns are counted from 1. */
export interface YamlDocument {
  readonly value: unknown
  readonly findPosition: (path: readonly (string | number)[]) => YamlPosition
}

export interface YamlPosition {
  readonly line: number
  readonly column: number
}

export type YamlParseResult =
  | { readonly ok: true; readonly documents: readonly YamlDocument[] }
  | { readonly ok: false; readonly message: string; readonly position: YamlPosition }

const maxAliases = 100

/**
 * Parses 0644 as octal, and `booleanTag` parses yes as true. kubectl reads YAML 1.1 this way, and a file must
 * mean the same here.
 */
const octalTag: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7_]+$/,
  resolve: (text) => Number.parseInt(text.replaceAll('_', ''), 8),
}

const booleanTag: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/,
  resolve: (text) => /^(?:y|on$)/i.test(text),
}

/** Parses the documents of a YAML text. Empty documents are left out. */
export function parseYamlDocuments(text: string): YamlParseResult {
  const lines = new LineCounter()
  const toPosition = (offset: number): YamlPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    merge: true,
    customTags: (tags) => [octalTag, booleanTag, ...tags],
    // By default the library prints warnings to the terminal.
    logLevel: 'error',
  })
  const documents: YamlDocument[] = []
  for (const document of 'empty' in parsed ? [] : parsed) {
    const [error] = document.errors
    if (error !== undefined) {
      return { ok: false, message: error.message.split('\n')[0] ?? '', position: toPosition(error.pos[0]) }
    }
    const findPosition: YamlDocument['findPosition'] = (path) => {
      const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
      const range = readStart(node)
      if (range !== undefined) return toPosition(range)
      return path.length === 0 ? toPosition(document.range[0]) : findPosition(path.slice(0, -1))
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: maxAliases })
      if (value !== null && value !== undefined) documents.push({ value, findPosition })
    } catch {
      return { ok: false, message: 'it repeats itself too often through aliases', position: findPosition([]) }
    }
  }
  return { ok: true, documents }
}

function readStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined
  const { range } = node
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined
}
