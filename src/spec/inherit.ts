import type { Position } from '../contract/finding.ts'
import type { LocatedDocument, Path } from './document.ts'
import type { ReadFleet } from './fleet.ts'
import { formatPath } from './issue-messages.ts'

/** A value that a cluster inherits from fleet.yml. */
export interface InheritedValue {
  /** Path in cluster.yml, for example spec.components.kubelet.maxPods. */
  readonly path: string
  /** Position of the key in fleet.yml. */
  readonly position: Position
}

export interface MergedDocument extends LocatedDocument {
  readonly inherited: readonly InheritedValue[]
}

export type ClusterLabels = Readonly<Record<string, string>>

type Fields = Readonly<Record<string, unknown>>

/**
 * Adds the values of a fleet to a cluster.yml. Maps are merged. Lists and other values of cluster.yml replace
 * those of fleet.yml. Of two defaults the later one wins.
 */
export function inheritFrom({ fleet, document }: ReadFleet, own: LocatedDocument): MergedDocument {
  const spec = readPath(own.value, ['spec'])
  if (!isFields(own.value) || !isFields(spec)) return { ...own, inherited: [] }
  const labels = readLabels(own.value)
  const layers = fleet.spec.defaults.flatMap(({ select = {} }, index) => {
    const source = ['spec', 'defaults', index, 'values']
    return matchesLabels(select, labels) ? [toDefault(readPath(document.value, source), source)] : []
  })
  const [first, ...others] = layers
  if (first === undefined) return { ...own, inherited: [] }
  const sources: InheritedSource[] = []
  const merged = fillGaps(spec, others.reduce(overlay, first), [], sources)
  return {
    value: { ...own.value, spec: merged },
    ...createPositions(own, document, sources),
    inherited: sources
      .map(({ path, source }) => ({
        path: formatPath(['spec', ...path]),
        position: document.positionOfKey(source.slice(0, -1), String(source.at(-1))),
      }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

/** True if the labels contain all labels of the selector. */
export function matchesLabels(select: ClusterLabels, labels: ClusterLabels): boolean {
  return Object.entries(select).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

/** Returns the labels of a cluster. The label `name` is the name of the cluster. */
export function readLabels(cluster: unknown): ClusterLabels {
  const own = readPath(cluster, ['metadata', 'labels'])
  const labels = Object.entries(isFields(own) ? own : {}).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  )
  const name = readPath(cluster, ['metadata', 'name'])
  return Object.fromEntries([...labels, ...(typeof name === 'string' ? [['name', name] as const] : [])])
}

/** A default with its path in fleet.yml. `fields` is set for maps, which are merged key by key. */
interface DefaultValue {
  readonly value: unknown
  readonly source: Path
  readonly fields?: ReadonlyMap<string, DefaultValue>
}

function toDefault(value: unknown, source: Path): DefaultValue {
  if (!isFields(value)) return { value, source }
  const fields = Object.entries(value).map(([key, part]) => [key, toDefault(part, [...source, key])] as const)
  return { value, source, fields: new Map(fields) }
}

function overlay(lower: DefaultValue, upper: DefaultValue): DefaultValue {
  if (lower.fields === undefined || upper.fields === undefined) return upper
  const fields = new Map(lower.fields)
  for (const [key, part] of upper.fields) {
    const previous = fields.get(key)
    fields.set(key, previous === undefined ? part : overlay(previous, part))
  }
  return { ...upper, fields }
}

/** An inherited value: its path below `spec`, and its path in fleet.yml. */
interface InheritedSource {
  readonly path: Path
  readonly source: Path
}

/** Adds defaults for keys that `target` lacks, and records them in `sources`. */
function fillGaps(target: Fields, { fields }: DefaultValue, path: Path, sources: InheritedSource[]): Fields {
  const kept = Object.entries(target).map(([key, value]) => {
    const part = fields?.get(key)
    const canMerge = isFields(value) && part?.fields !== undefined
    return [key, canMerge ? fillGaps(value, part, [...path, key], sources) : value] as const
  })
  const added = [...(fields ?? [])].flatMap(([key, part]) =>
    Object.hasOwn(target, key) ? [] : [[key, copyDefault(part, [...path, key], sources)] as const],
  )
  return Object.fromEntries([...kept, ...added])
}

function copyDefault(
  { value, source, fields }: DefaultValue,
  path: Path,
  sources: InheritedSource[],
): unknown {
  if (fields !== undefined && fields.size > 0)
    return Object.fromEntries(
      [...fields].map(([key, part]) => [key, copyDefault(part, [...path, key], sources)]),
    )
  sources.push({ path, source })
  return value
}

/** Finds positions in the file that contains the value: cluster.yml, or fleet.yml for an inherited value. */
function createPositions(
  own: LocatedDocument,
  fleet: LocatedDocument,
  sources: readonly InheritedSource[],
): Pick<LocatedDocument, 'positionOf' | 'positionOfKey'> {
  const findSource = ([root, ...path]: Path): Path | undefined => {
    if (root !== 'spec' || readPath(own.value, [root, ...path]) !== undefined) return undefined
    for (const one of sources) {
      if (startsWith(path, one.path)) return [...one.source, ...path.slice(one.path.length)]
      if (startsWith(one.path, path))
        return one.source.slice(0, one.source.length - one.path.length + path.length)
    }
    return undefined
  }
  return {
    positionOf(path) {
      const source = findSource(path)
      return source === undefined ? own.positionOf(path) : fleet.positionOf(source)
    },
    positionOfKey(path, key) {
      const source = findSource([...path, key])
      return source === undefined
        ? own.positionOfKey(path, key)
        : fleet.positionOfKey(source.slice(0, -1), String(source.at(-1)))
    },
  }
}

function startsWith(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((part, index) => path[index] === part)
}

/** Returns the value at a path, or undefined if there is none. */
function readPath(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => {
    if (Array.isArray(part)) return part[Number(key)]
    return isFields(part) && Object.hasOwn(part, key) ? part[key] : undefined
  }, value)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
