import { LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'
import type { Finding } from '../../contract/finding.ts'
import type { Manifest } from '../../kube/object.ts'
import { parseManifest } from '../manifest.ts'
import type { ManifestSource } from './manifest-sources.ts'

export interface ManifestsResult {
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

type Path = readonly (string | number)[]

interface Candidate {
  readonly value: unknown
  readonly path: Path
}

/** Parses the manifests of one source and reports all its problems. */
export function parseManifests(source: ManifestSource): ManifestsResult {
  const reading = parseYamlDocuments(source.text)
  if (!reading.ok) {
    const { line, column } = reading.position
    return refuseSource([buildFinding(source, 'ADDON_SOURCE_NOT_YAML', reading.message, line, column)])
  }
  const found = reading.documents.flatMap(({ value, findPosition }) =>
    expandLists(value).map((candidate) => {
      const read = parseManifest(candidate.value)
      if (read.ok) return { manifest: read.manifest, finding: undefined }
      const { line, column } = findPosition([...candidate.path, ...read.path])
      const problem = buildFinding(source, 'ADDON_SOURCE_NOT_MANIFEST', read.reason, line, column)
      return { manifest: undefined, finding: problem }
    }),
  )
  // An empty source is refused. Otherwise all objects that it contained before would be removed from the
  // cluster.
  if (found.length === 0) {
    return refuseSource([buildFinding(source, 'ADDON_SOURCE_EMPTY', 'it contains no manifest', 1, 1)])
  }
  return {
    manifests: found.flatMap(({ manifest }) => manifest ?? []),
    findings: found.flatMap(({ finding: problem }) => problem ?? []),
  }
}

/** Reads manifests that cluster.yml contains as a list of objects. */
export function readInlineManifests(values: readonly unknown[], path: string): ManifestsResult {
  const found = values.flatMap((value, index) =>
    expandLists(value).map(({ value: item }) => ({ index, read: parseManifest(item) })),
  )
  return {
    manifests: found.flatMap(({ read }) => (read.ok ? read.manifest : [])),
    findings: found.flatMap(({ index, read }) =>
      read.ok
        ? []
        : [
            {
              code: 'ADDON_SOURCE_NOT_MANIFEST',
              severity: 'error' as const,
              message: `not a manifest: ${read.reason}`,
              path: `${path}[${index}]`,
            },
          ],
    ),
  }
}

/** Replaces a List by its items. An object with a name is not a List, even if its kind ends with "List". */
function expandLists(value: unknown, path: Path = []): Candidate[] {
  if (typeof value !== 'object' || value === null) return [{ value, path }]
  const { kind, items, metadata } = Object(value)
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
  if (!isList || Object(metadata).name !== undefined) return [{ value, path }]
  return items.flatMap((item: unknown, index: number) => expandLists(item, [...path, 'items', index]))
}

function buildFinding(
  { name, path, inline }: ManifestSource,
  code: string,
  message: string,
  line: number,
  column: number,
): Finding {
  const severity = 'error'
  // Lines of inline text are counted within that text, so a position in cluster.yml cannot be given.
  if (inline) return { code, severity, message: `line ${line}: ${message}`, path }
  return { code, severity, message, path, position: { file: name, line, column } }
}

function refuseSource(findings: readonly Finding[]): ManifestsResult {
  return { manifests: [], findings }
}

/** One document of a YAML text. Lines and columns are counted from 1. */
interface YamlDocument {
  readonly value: unknown
  readonly findPosition: (path: readonly (string | number)[]) => YamlPosition
}

interface YamlPosition {
  readonly line: number
  readonly column: number
}

type YamlParseResult =
  | { readonly ok: true; readonly documents: readonly YamlDocument[] }
  | { readonly ok: false; readonly message: string; readonly position: YamlPosition }

const maxAliases = 100

/**
 * YAML tag that parses numbers such as 0644 as octal. kubectl reads YAML 1.1 this way, and files must mean
 * the same in hyperkube.
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
function parseYamlDocuments(text: string): YamlParseResult {
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
    // With the default level the library would print warnings to the terminal.
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
      return { ok: false, message: 'it uses too many YAML aliases', position: findPosition([]) }
    }
  }
  return { ok: true, documents }
}

function readStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined
  const { range } = node
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined
}
