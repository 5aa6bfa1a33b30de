import type { Finding } from '../../contract/finding.ts'
import type { Manifest } from '../../kube/object.ts'
import { readManifest } from '../manifest.ts'
import type { Source } from './manifest-sources.ts'
import { readYaml } from './parse-yaml.ts'

export interface Found {
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

type Path = readonly (string | number)[]

interface Candidate {
  readonly value: unknown
  readonly path: Path
}

/** The manifests of one text, or all that is wrong with it. */
export function manifestsIn(source: Source): Found {
  const reading = readYaml(source.text)
  if (!reading.ok) {
    const { line, column } = reading.position
    return wrong([finding(source, 'ADDON_SOURCE_NOT_YAML', reading.message, line, column)])
  }
  const found = reading.documents.flatMap(({ value, positionOf }) =>
    unfolded(value).map((candidate) => {
      const read = readManifest(candidate.value)
      if (read.ok) return { manifest: read.manifest, finding: undefined }
      const { line, column } = positionOf([...candidate.path, ...read.path])
      const told = finding(source, 'ADDON_SOURCE_NOT_MANIFEST', read.reason, line, column)
      return { manifest: undefined, finding: told }
    }),
  )
  // What a file has lost would otherwise be taken out of the cluster.
  if (found.length === 0) {
    return wrong([finding(source, 'ADDON_SOURCE_EMPTY', 'there is no manifest in it', 1, 1)])
  }
  return {
    manifests: found.flatMap(({ manifest }) => manifest ?? []),
    findings: found.flatMap(({ finding: told }) => told ?? []),
  }
}

/** The same for manifests that are already values: those which cluster.yml holds as a list. */
export function manifestsOf(values: readonly unknown[], path: string): Found {
  const found = values.flatMap((value, index) =>
    unfolded(value).map(({ value: item }) => ({ index, read: readManifest(item) })),
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

/** A List stands for what is in it. It has no name, as an object that only ends like one has. */
function unfolded(value: unknown, path: Path = []): Candidate[] {
  if (typeof value !== 'object' || value === null) return [{ value, path }]
  const { kind, items, metadata } = Object(value)
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
  if (!isList || Object(metadata).name !== undefined) return [{ value, path }]
  return items.flatMap((item: unknown, index: number) => unfolded(item, [...path, 'items', index]))
}

function finding(
  { name, path, inline }: Source,
  code: string,
  message: string,
  line: number,
  column: number,
): Finding {
  const severity = 'error'
  // Text inside cluster.yml has lines of its own.
  if (inline) return { code, severity, message: `line ${line}: ${message}`, path }
  return { code, severity, message, path, position: { file: name, line, column } }
}

function wrong(findings: readonly Finding[]): Found {
  return { manifests: [], findings }
}
