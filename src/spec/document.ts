import { isMap, isNode, isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml'
import type { Finding, Position } from '../contract/finding.ts'

/** Text of a file, with the file name to show in findings. */
export interface SourceText {
  readonly file: string
  readonly text: string
}

export type Path = readonly (string | number)[]

/** A parsed YAML document with the position of every value. */
export interface LocatedDocument {
  readonly value: unknown
  /**
   * Returns the position of the value at a path. If it does not exist, returns the position of its nearest
   * existing ancestor.
   */
  positionOf(path: Path): Position
  /** Returns the position of a key in the map at a path. */
  positionOfKey(path: Path, key: string): Position
}

export type ReadDocumentResult =
  | { readonly ok: true; readonly document: LocatedDocument }
  | { readonly ok: false; readonly findings: readonly Finding[] }

/**
 * Maximum length of a cluster.yml in characters. A longer file is a mistake or a denial-of-service attempt.
 */
const maxLength = 1_000_000
const maxAliases = 100

export function readDocument({ file, text }: SourceText): ReadDocumentResult {
  if (text.length > maxLength) {
    return failure('SPEC_TOO_LARGE', 'the file is larger than a cluster.yml can be', {
      file,
      line: 1,
      column: 1,
    })
  }
  const lines = new LineCounter()
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    // By default the YAML library prints warnings to the terminal.
    logLevel: 'error',
  })
  const [document, second] = 'empty' in documents ? [] : documents
  if (document === undefined || document.contents === null) {
    return failure('SPEC_EMPTY', 'there is nothing in the file', at(0), 'hyperkube init writes a first one')
  }
  if (document.errors.length > 0) {
    const findings = document.errors.map(({ message, pos }): Finding => ({
      code: 'SPEC_NOT_YAML',
      severity: 'error',
      message: message.split('\n')[0] ?? message,
      position: at(pos[0]),
    }))
    return { ok: false, findings }
  }
  if (second !== undefined) {
    const where = at(second.range[0])
    return failure('SPEC_SECOND_DOCUMENT', 'a file holds one cluster; here begins a second document', where)
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    return { ok: true, document: { value, ...locator(document, at) } }
  } catch {
    return failure('SPEC_TOO_MANY_ALIASES', 'the file repeats itself too often through aliases', at(0))
  }
}

function failure(code: string, message: string, position: Position, hint?: string): ReadDocumentResult {
  const finding: Finding = {
    code,
    severity: 'error',
    message,
    position,
    ...(hint === undefined ? {} : { hint }),
  }
  return { ok: false, findings: [finding] }
}

function locator(
  document: Document.Parsed,
  at: (offset: number) => Position,
): Pick<LocatedDocument, 'positionOf' | 'positionOfKey'> {
  const positionOf = (path: Path): Position => {
    const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
    if (isNode(node) && node.range) return at(node.range[0])
    return path.length === 0 ? at(0) : positionOf(path.slice(0, -1))
  }
  return {
    positionOf,
    positionOfKey(path, key) {
      const map: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
      const found = isMap(map)
        ? map.items.find((item) => isScalar(item.key) && item.key.value === key)
        : undefined
      return isScalar(found?.key) && found.key.range ? at(found.key.range[0]) : positionOf(path)
    },
  }
}
