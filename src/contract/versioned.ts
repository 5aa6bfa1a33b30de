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

/** Reads a document of any version of its format, and answers with the newest. */
export function readVersioned<T>({ kind, newest, older }: Format<T>, value: unknown): T {
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
  const document = steps.reduce((old, step) => step.toNext(old), value)
  return parse(newest.apiVersion, newest.schema, document)
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
