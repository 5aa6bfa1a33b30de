import { LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'

/** One document of a text, and where in the text things of it are, counted from 1. */
export interface YamlDocument {
  readonly value: unknown
  readonly positionOf: (path: readonly (string | number)[]) => YamlPosition
}

export interface YamlPosition {
  readonly line: number
  readonly column: number
}

export type YamlReading =
  | { readonly ok: true; readonly documents: readonly YamlDocument[] }
  | { readonly ok: false; readonly message: string; readonly position: YamlPosition }

const mostAliases = 100

/**
 * YAML as kubectl reads it, which is older than the YAML of today: a mode of 0644 is octal, and yes is true. Otherwise
 * the same file would mean one thing there and another here.
 */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7_]+$/,
  resolve: (text) => Number.parseInt(text.replaceAll('_', ''), 8),
}

const words: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/,
  resolve: (text) => /^(?:y|on$)/i.test(text),
}

/** The documents of a text, without those that hold nothing. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter()
  const at = (offset: number): YamlPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    merge: true,
    customTags: (tags) => [octal, words, ...tags],
    // Warnings would go to the terminal by themselves.
    logLevel: 'error',
  })
  const documents: YamlDocument[] = []
  for (const document of 'empty' in parsed ? [] : parsed) {
    const [error] = document.errors
    if (error !== undefined) {
      return { ok: false, message: error.message.split('\n')[0] ?? '', position: at(error.pos[0]) }
    }
    const positionOf: YamlDocument['positionOf'] = (path) => {
      const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
      const range = rangeOf(node)
      if (range !== undefined) return at(range)
      return path.length === 0 ? at(document.range[0]) : positionOf(path.slice(0, -1))
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: mostAliases })
      if (value !== null && value !== undefined) documents.push({ value, positionOf })
    } catch {
      return { ok: false, message: 'it repeats itself too often through aliases', position: positionOf([]) }
    }
  }
  return { ok: true, documents }
}

function rangeOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined
  const { range } = node
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined
}
