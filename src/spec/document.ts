import { isMap, isNode, isScalar, isSeq, LineCounter, type Document, type YAMLMap } from 'yaml'
import type { Finding, Position } from '../contract/finding.ts'
import { findDuplicateKeys, parseBoundedYaml } from '../kit/parse-yaml.ts'

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
    return failure('SPEC_TOO_LARGE', 'the file is too large for a cluster.yml', {
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
  const documents = parseBoundedYaml(text, lines)
  if (documents === undefined) {
    return failure('SPEC_TOO_LARGE', 'the file has too many values for a cluster.yml', at(0))
  }
  const [document, second] = documents
  if (document === undefined || document.contents === null) {
    return failure('SPEC_EMPTY', 'the file is empty', at(0), 'to create one: hyperkube init')
  }
  const errors = [
    ...document.errors.map(({ message, pos }) => ({ message, offset: pos[0] })),
    ...findDuplicateKeys(document).map((offset) => ({ message: 'Map keys must be unique', offset })),
  ]
  if (errors.length > 0) {
    const findings = errors.map(({ message, offset }): Finding => ({
      code: 'SPEC_NOT_YAML',
      severity: 'error',
      message: message.split('\n')[0] ?? message,
      position: at(offset),
    }))
    return { ok: false, findings }
  }
  if (second !== undefined) {
    const where = at(second.range[0])
    return failure(
      'SPEC_SECOND_DOCUMENT',
      'the file must contain one YAML document; a second one begins here',
      where,
    )
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    return { ok: true, document: { value, ...locator(document, at) } }
  } catch {
    return failure('SPEC_TOO_MANY_ALIASES', 'the file uses too many YAML aliases', at(0))
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

/** Returns a function that finds a pair of a map. The keys of each map are indexed at its first use. */
function createPairFinder(): (map: YAMLMap, key: unknown) => YAMLMap['items'][number] | undefined {
  const indexes = new WeakMap<YAMLMap, Map<unknown, YAMLMap['items'][number]>>()
  return (map, key) => {
    const index =
      indexes.get(map) ??
      new Map(map.items.map((item) => [isScalar(item.key) ? item.key.value : item.key, item]))
    indexes.set(map, index)
    return index.get(key)
  }
}

function locator(
  document: Document.Parsed,
  at: (offset: number) => Position,
): Pick<LocatedDocument, 'positionOf' | 'positionOfKey'> {
  const findPair = createPairFinder()
  const nodeAt = (path: Path): unknown =>
    path.reduce<unknown>((node, part) => {
      if (isMap(node)) return (findPair(node, part) ?? findPair(node, numberOrSame(part)))?.value
      return isSeq(node) ? node.items[Number(part)] : undefined
    }, document.contents)
  const positionOf = (path: Path): Position => {
    const node = nodeAt(path)
    if (isNode(node) && node.range) return at(node.range[0])
    return path.length === 0 ? at(0) : positionOf(path.slice(0, -1))
  }
  return {
    positionOf,
    positionOfKey(path, key) {
      const map = nodeAt(path)
      const found = isMap(map) ? findPair(map, key) : undefined
      return isScalar(found?.key) && found.key.range ? at(found.key.range[0]) : positionOf(path)
    },
  }
}

/** Converts a path part such as `1` to a number, because YAML parses such a key as a number. */
function numberOrSame(part: string | number): unknown {
  const number = Number(part)
  return part === String(number) ? number : part
}
