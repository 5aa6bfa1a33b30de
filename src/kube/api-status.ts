import { z } from 'zod'

/** How the API says no. */
const status = z.looseObject({
  kind: z.literal('Status'),
  message: z.string().optional(),
  /** A word for programs: AlreadyExists, Conflict, Expired. */
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

/** One of several things that are wrong with a request. */
export interface Cause {
  readonly reason: string
  readonly message: string
  /** Where in the object. */
  readonly field: string | undefined
}

export interface Refusal {
  readonly status: number
  readonly reason: string | undefined
  /** In the API's own words. */
  readonly message: string
  readonly causes: readonly Cause[]
}

/** What an answer that is no success says. Proxies, and servers that are about to stop, say it in plain text. */
export function readRefusal(code: number, text: string): Refusal {
  return (
    refusalOf(code, jsonOf(text)) ?? {
      status: code,
      reason: undefined,
      message: text.trim().slice(0, 10_000),
      causes: [],
    }
  )
}

/** Undefined when it is none. */
export function refusalOf(code: number, value: unknown): Refusal | undefined {
  const parsed = status.safeParse(value)
  if (!parsed.success) return undefined
  const { message = '', reason, details } = parsed.data
  const causes = (details?.causes ?? []).map((cause) => ({
    reason: cause.reason ?? '',
    message: cause.message ?? '',
    field: cause.field,
  }))
  return { status: code, reason, message, causes }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
