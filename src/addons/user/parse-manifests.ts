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

/** Parses the manifests of one source, or reports all its problems. */
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
  // An empty file is refused: otherwise all objects it had before would be removed from the cluster.
  if (found.length === 0) {
    return refuseSource([buildFinding(source, 'ADDON_SOURCE_EMPTY', 'there is no manifest in it', 1, 1)])
  }
  return {
    manifests: found.flatMap(({ manifest }) => manifest ?? []),
    findings: found.flatMap(({ finding: problem }) => problem ?? []),
  }
}

/** The same for manifests that cluster.yml holds as a list of objects. */
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

/** A List stands for its items. An object with a name is no List, even if its kind ends with it. */
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
  // Inline text has line numbers of its own.
  if (inline) return { code, severity, message: `line ${line}: ${message}`, path }
  return { code, severity, message, path, position: { file: name, line, column } }
}

function refuseSource(findings: readonly Finding[]): ManifestsResult {
  return { manifests: [], findings }
}
