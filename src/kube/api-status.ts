import { z } from 'zod'

/** Status object of an API error. */
const statusSchema = z.looseObject({
  kind: z.literal('Status'),
  message: z.string().optional(),
  /** Machine-readable reason, for example AlreadyExists, Conflict or Expired. */
  reason: z.string().optional(),
  details: z
    .looseObject({
      causes: z
        .array(
          z.looseObject({
            reason: z.string().optional(),
            message: z.string().optional(),
            field: z.string().optional(),
          }),
        )
        .nullish(),
    })
    .nullish(),
})

/** One problem of a request; a Status object can list several. */
export interface StatusCause {
  readonly reason: string
  readonly message: string
  /** Path of the invalid field. */
  readonly field: string | undefined
}

export interface ApiStatus {
  readonly status: number
  readonly reason: string | undefined
  /** Message of the API. */
  readonly message: string
  readonly causes: readonly StatusCause[]
}

/**
 * Parses an error response. If it is not a Status object, its text becomes the message: proxies and stopping
 * servers send plain text.
 */
export function parseErrorResponse(code: number, text: string): ApiStatus {
  return (
    parseApiStatus(code, parseJson(text)) ?? {
      status: code,
      reason: undefined,
      message: text.trim().slice(0, 10_000),
      causes: [],
    }
  )
}

/** Parses a Status object. Returns undefined if the value is not a Status object. */
export function parseApiStatus(code: number, value: unknown): ApiStatus | undefined {
  const parsed = statusSchema.safeParse(value)
  if (!parsed.success) return undefined
  const { message = '', reason, details } = parsed.data
  const causes = (details?.causes ?? []).map((cause) => ({
    reason: cause.reason ?? '',
    message: cause.message ?? '',
    field: cause.field,
  }))
  return { status: code, reason, message, causes }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
