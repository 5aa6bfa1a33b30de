import { z } from 'zod'

export type Json = Readonly<Record<string, unknown>>
const json = z.record(z.string(), z.unknown())

export function jsonOf(value: unknown): Json {
  return json.parse(value)
}

export interface Leaf {
  /** spec.replicas. Parts with a full stop in them are not known here. */
  readonly path: string
  readonly value: unknown
}

/** What says which object is meant, or is written by the API alone. */
const apart = new Set([
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.resourceVersion',
  'metadata.uid',
])

/** All fields that somebody sets. A list is one of them. */
export function leavesOf(value: Json, path: readonly string[] = []): Leaf[] {
  return Object.entries(value).flatMap(([key, part]) => {
    const own = [...path, key.replaceAll('.', '~')]
    if (apart.has(own.join('.')) || part === undefined) return []
    const inner = json.safeParse(part)
    const isDeeper = inner.success && Object.keys(inner.data).length > 0
    return isDeeper ? leavesOf(inner.data, own) : [{ path: own.join('.'), value: part }]
  })
}

/** The fields of an object, each by its path. */
export class Fields {
  readonly #values: ReadonlyMap<string, string>

  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.#values = values
  }

  get paths(): string[] {
    return [...this.#values.keys()]
  }

  has({ path, value }: Leaf): boolean {
    return this.#values.get(path) === JSON.stringify(value)
  }

  with(leaves: readonly Leaf[]): Fields {
    return new Fields(
      new Map([...this.#values, ...leaves.map(({ path, value }) => [path, JSON.stringify(value)] as const)]),
    )
  }

  without(paths: readonly string[]): Fields {
    return new Fields(new Map([...this.#values].filter(([path]) => !paths.includes(path))))
  }

  equals(other: Fields): boolean {
    const same = [...this.#values].every(([path, text]) => other.#values.get(path) === text)
    return same && this.#values.size === other.#values.size
  }

  get value(): Json {
    return [...this.#values].reduce<Json>(
      (all, [path, text]) => put(all, path.split('.'), JSON.parse(text)),
      {},
    )
  }
}

function put(into: Json, [first = '', ...rest]: readonly string[], value: unknown): Json {
  const key = first.replaceAll('~', '.')
  if (rest.length === 0) return { ...into, [key]: value }
  return { ...into, [key]: put(jsonOf(into[key] ?? {}), rest, value) }
}
