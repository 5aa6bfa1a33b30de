import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

/**
 * Format of a document that is stored or sent between releases. The writer may be an older release, so each
 * old version can be converted to the next one.
 */
export interface Format<T> {
  readonly kind: string
  readonly newest: { readonly apiVersion: string; readonly schema: z.ZodType<T> }
  /** Versions that are no longer written, oldest first. */
  readonly older: readonly OlderVersion[]
}

export interface OlderVersion {
  readonly apiVersion: string
  /** Converts a document of this version to the next version. */
  toNext(value: unknown): unknown
}

/** Defines a version that is still read but no longer written. */
export function olderVersion<S extends z.ZodType>(
  apiVersion: string,
  schema: S,
  upgrade: (document: z.infer<S>) => unknown,
): OlderVersion {
  return { apiVersion, toNext: (value) => upgrade(parse(apiVersion, schema, value)) }
}

const versioned = z.looseObject({ apiVersion: z.string(), kind: z.string() })

/** Reads a document of any known version and converts it to the newest version. Unknown fields are errors. */
export function readVersioned<T>(format: Format<T>, value: unknown): T {
  return parse(format.newest.apiVersion, format.newest.schema, toNewest(format, value))
}

/**
 * Like readVersioned, but drops unknown fields that a newer release may have added. It must not be used for
 * requests, where an unknown field may be essential.
 */
export function readVersionedLenient<T>(format: Format<T>, value: unknown): T {
  const { apiVersion, schema } = format.newest
  return parse(apiVersion, schema, dropUnknownKeys(schema, toNewest(format, value)))
}

/** Maximum nesting of a document. Manifests of addons have the deepest nesting, about 60 levels. */
const maxDepth = 200

function toNewest<T>({ kind, newest, older }: Format<T>, value: unknown): unknown {
  // A value with thousands of levels would exceed the stack of every later function.
  if (isDeeperThan(value, maxDepth))
    throw new HyperkubeError('CONTRACT_NOT_VALID', `a document has more than ${maxDepth} levels`)
  const head = versioned.safeParse(value)
  if (!head.success || head.data.kind !== kind) {
    throw new HyperkubeError('CONTRACT_OTHER_KIND', `this is not a document of kind ${kind}`)
  }
  const { apiVersion } = head.data
  const from = older.findIndex((version) => version.apiVersion === apiVersion)
  if (from === -1 && apiVersion !== newest.apiVersion) {
    const known = [...older, newest].map((version) => version.apiVersion).join(', ')
    const message = `${kind} has version ${apiVersion}; this hyperkube reads ${known}`
    throw new HyperkubeError('CONTRACT_VERSION', message, {
      hint: 'upgrade the older hyperkube: the operator and the agent must be at most one release apart',
    })
  }
  const steps = from === -1 ? [] : older.slice(from)
  return steps.reduce((old, step) => step.toNext(old), value)
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((part) => isDeeperThan(part, depth - 1))
}

function dropUnknownKeys(schema: z.ZodType, value: unknown): unknown {
  const issues = schema.safeParse(value).error?.issues ?? []
  const unknownKeys = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? [issue] : []))
  if (unknownKeys.length === 0) return value
  const known = structuredClone(value)
  for (const { path, keys } of unknownKeys) {
    const parent = path.reduce<unknown>((part, key) => Reflect.get(Object(part), key), known)
    for (const key of keys) Reflect.deleteProperty(Object(parent), key)
  }
  // A Zod issue about a union can hide further unknown keys, so the value is checked again.
  return dropUnknownKeys(schema, known)
}

function parse<S extends z.ZodType>(apiVersion: string, schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the document'}: ${message}`,
  )
  const message = `a document of version ${apiVersion} is not valid: ${problems.join('; ')}`
  throw new HyperkubeError('CONTRACT_NOT_VALID', message)
}
