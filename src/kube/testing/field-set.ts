import { z } from 'zod'

export type JsonFields = Readonly<Record<string, unknown>>
const json = z.record(z.string(), z.unknown())

export function parseJsonFields(value: unknown): JsonFields {
  return json.parse(value)
}

export interface FieldValue {
  /**
   * Path of the field, for example spec.replicas. A dot inside a key is replaced by `~`. The path of a
   * condition ends with its type in brackets.
   */
  readonly path: string
  readonly value: unknown
}

/** Fields that identify the object or that only the API server writes. They have no owner. */
const serverPaths = new Set([
  'apiVersion',
  'kind',
  ...[
    'name',
    'namespace',
    'resourceVersion',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'generation',
    'managedFields',
  ].map((name) => `metadata.${name}`),
])

const typedItems = z.array(z.looseObject({ type: z.string() })).min(1)

/** Lists all fields of a value with their paths. An array counts as one field, except conditions. */
export function listFields(value: JsonFields, path: readonly string[] = []): FieldValue[] {
  return Object.entries(value).flatMap(([key, part]) => {
    const fieldPath = [...path, escapeKey(key)]
    if (serverPaths.has(fieldPath.join('.')) || part === undefined) return []
    const conditions = key === 'conditions' ? typedItems.safeParse(part) : undefined
    if (conditions?.success === true) {
      return conditions.data.map((item) => ({
        path: [...fieldPath, `[${escapeKey(item.type)}]`].join('.'),
        value: item,
      }))
    }
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

  /** Adds fields at the end, so that applied conditions come after those of other managers. */
  with(fields: readonly FieldValue[]): FieldSet {
    const added = fields.map(({ path, value }) => [path, JSON.stringify(value)] as const)
    const paths = new Set(added.map(([path]) => path))
    return new FieldSet(new Map([...[...this.#values].filter(([path]) => !paths.has(path)), ...added]))
  }

  without(paths: readonly string[]): FieldSet {
    const removed = new Set(paths)
    return new FieldSet(new Map([...this.#values].filter(([path]) => !removed.has(path))))
  }

  get value(): JsonFields {
    const nested = [...this.#values]
      // An empty map or list is kept only while no field inside it exists.
      .filter(([path]) => !this.paths.some((other) => other.startsWith(`${path}.`)))
      .reduce<JsonFields>((all, [path, text]) => setPath(all, path.split('.'), JSON.parse(text)), {})
    return parseJsonFields(restoreLists(nested))
  }
}

function escapeKey(key: string): string {
  return key.replaceAll('.', '~')
}

function setPath(into: JsonFields, [first = '', ...rest]: readonly string[], value: unknown): JsonFields {
  const key = first.replaceAll('~', '.')
  if (rest.length === 0) return { ...into, [key]: value }
  return { ...into, [key]: setPath(parseJsonFields(into[key] ?? {}), rest, value) }
}

/** Turns maps of conditions by type back into lists. */
function restoreLists(value: unknown): unknown {
  const map = json.safeParse(value)
  if (!map.success) return value
  const entries = Object.entries(map.data)
  if (entries.length > 0 && entries.every(([key]) => /^\[.*\]$/.test(key)))
    return entries.map(([, item]) => item)
  return Object.fromEntries(entries.map(([key, part]) => [key, restoreLists(part)]))
}
