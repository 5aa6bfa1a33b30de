import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

/**
 * A document that outlives the process that wrote it. Agents and files are older than the program that reads them, so
 * every version we ever wrote can be read: each one knows how to become the next.
 */
export interface Format<T> {
  readonly kind: string
  readonly newest: { readonly apiVersion: string; readonly schema: z.ZodType<T> }
  /** From the oldest on. */
  readonly older: readonly OlderVersion[]
}

export interface OlderVersion {
  readonly apiVersion: string
  /** The same document as the next version has it. */
  toNext(value: unknown): unknown
}

/** A version that is no longer written. */
export function olderVersion<S extends z.ZodType>(
  apiVersion: string,
  schema: S,
  upgrade: (document: z.infer<S>) => unknown,
): OlderVersion {
  return { apiVersion, toNext: (value) => upgrade(parse(apiVersion, schema, value)) }
}

const versioned = z.looseObject({ apiVersion: z.string(), kind: z.string() })

/** Reads a document of any version of its format, and answers with the newest. What it does not know it refuses. */
export function readVersioned<T>(format: Format<T>, value: unknown): T {
  return parse(format.newest.apiVersion, format.newest.schema, toNewest(format, value))
}

/**
 * The same of something that a newer release may have told: fields that this one does not know are left out. That is
 * for answers alone. Nothing may be left out of what is asked for, as it may be the very point of it.
 */
export function readTold<T>(format: Format<T>, value: unknown): T {
  const { apiVersion, schema } = format.newest
  return parse(apiVersion, schema, withoutUnknown(schema, toNewest(format, value)))
}

function toNewest<T>({ kind, newest, older }: Format<T>, value: unknown): unknown {
  const head = versioned.safeParse(value)
  if (!head.success || head.data.kind !== kind) {
    throw new HyperkubeError('CONTRACT_OTHER_KIND', `this is not a document of kind ${kind}`)
  }
  const { apiVersion } = head.data
  const from = older.findIndex((version) => version.apiVersion === apiVersion)
  if (from === -1 && apiVersion !== newest.apiVersion) {
    const known = [...older, newest].map((version) => version.apiVersion).join(', ')
    const message = `${kind} is of version ${apiVersion}; this hyperkube reads ${known}`
    throw new HyperkubeError('CONTRACT_VERSION', message, {
      hint: 'one side is older than the other can read: bring both to neighbouring releases',
    })
  }
  const steps = from === -1 ? [] : older.slice(from)
  return steps.reduce((old, step) => step.toNext(old), value)
}

function withoutUnknown(schema: z.ZodType, value: unknown): unknown {
  const issues = schema.safeParse(value).error?.issues ?? []
  const unknown = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? [issue] : []))
  if (unknown.length === 0) return value
  const known = structuredClone(value)
  for (const { path, keys } of unknown) {
    const around = path.reduce<unknown>((part, key) => Reflect.get(Object(part), key), known)
    for (const key of keys) Reflect.deleteProperty(Object(around), key)
  }
  // What was hidden behind them shows now.
  return withoutUnknown(schema, known)
}

function parse<S extends z.ZodType>(apiVersion: string, schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const places = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the document'}: ${message}`,
  )
  const message = `a document of version ${apiVersion} is not valid: ${places.join('; ')}`
  throw new HyperkubeError('CONTRACT_NOT_VALID', message)
}
