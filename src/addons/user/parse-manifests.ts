import type { Finding } from '../../contract/finding.ts'
import type { Manifest } from '../../kube/object.ts'
import { parseManifest } from '../manifest.ts'
import type { ManifestSource } from './manifest-sources.ts'
import { parseYamlDocuments } from './parse-yaml.ts'

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
    return refuseSource([buildFinding(source, 'ADDON_SOURCE_EMPTY', 'there is no manifest in it', 1, 1)])
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
