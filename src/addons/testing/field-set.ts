import { z } from 'zod'

export type JsonFields = Readonly<Record<string, unknown>>
const json = z.record(z.string(), z.unknown())

export function parseJsonFields(value: unknown): JsonFields {
  return json.parse(value)
}

export interface FieldValue {
  /** Path of the field, for example spec.replicas. A dot inside a key is replaced by `~`. */
  readonly path: string
  readonly value: unknown
}

/** Fields that identify the object or that only the API server writes. They have no owner. */
const identityPaths = new Set([
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.resourceVersion',
  'metadata.uid',
])

/** Lists all fields of a value with their paths. An array counts as one field. */
export function listFields(value: JsonFields, path: readonly string[] = []): FieldValue[] {
  return Object.entries(value).flatMap(([key, part]) => {
    const fieldPath = [...path, key.replaceAll('.', '~')]
    if (identityPaths.has(fieldPath.join('.')) || part === undefined) return []
    const inner = json.safeParse(part)
    const isDeeper = inner.success && Object.keys(inner.data).length > 0
    return isDeeper ? listFields(inner.data, fieldPath) : [{ path: fieldPath.join('.'), value: part }]
  })
}

/** The fields of an object by path. */
export class FieldSet {
  readonly #values: ReadonlyMap<string, string>

  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.#values = values
  }

  get paths(): string[] {
    return [...this.#values.keys()]
  }

  has({ path, value }: FieldValue): boolean {
    return this.#values.get(path) === JSON.stringify(value)
  }

  with(leaves: readonly FieldValue[]): FieldSet {
    return new FieldSet(
      new Map([...this.#values, ...leaves.map(({ path, value }) => [path, JSON.stringify(value)] as const)]),
    )
  }

  without(paths: readonly string[]): FieldSet {
    return new FieldSet(new Map([...this.#values].filter(([path]) => !paths.includes(path))))
  }

  equals(other: FieldSet): boolean {
    const same = [...this.#values].every(([path, text]) => other.#values.get(path) === text)
    return same && this.#values.size === other.#values.size
  }

  get value(): JsonFields {
    return [...this.#values].reduce<JsonFields>(
      (all, [path, text]) => setPath(all, path.split('.'), JSON.parse(text)),
      {},
    )
  }
}

function setPath(into: JsonFields, [first = '', ...rest]: readonly string[], value: unknown): JsonFields {
  const key = first.replaceAll('~', '.')
  if (rest.length === 0) return { ...into, [key]: value }
  return { ...into, [key]: setPath(parseJsonFields(into[key] ?? {}), rest, value) }
}
