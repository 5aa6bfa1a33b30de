import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import type { RequestError } from '../kit/https-request.ts'
import { toPrintable } from '../kit/text.ts'

export type KubeErrorCode =
  | 'KUBE_UNREACHABLE'
  | 'KUBE_UNTRUSTED'
  | 'KUBE_UNAUTHORIZED'
  | 'KUBE_FORBIDDEN'
  | 'KUBE_NOT_FOUND'
  | 'KUBE_CONFLICT'
  | 'KUBE_EXPIRED'
  | 'KUBE_INVALID'
  | 'KUBE_TOO_MANY'
  | 'KUBE_SERVER'
  | 'KUBE_INVALID_RESPONSE'
  | 'KUBE_KIND_UNKNOWN'

interface KubeErrorDetails {
  readonly apiStatus?: ApiStatus
  readonly retryAfter?: number | undefined
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/** Error of a request that the API refused or did not answer. */
export class KubeError extends HyperkubeError {
  declare readonly code: KubeErrorCode
  /** HTTP status; undefined if the API did not respond. */
  readonly status: number | undefined
  /**
   * Reason in the API's Status object. It distinguishes errors with the same code: AlreadyExists and Conflict
   * are both KUBE_CONFLICT.
   */
  readonly reason: string | undefined
  /** Full message of the API. */
  readonly apiMessage: string
  readonly causes: readonly StatusCause[]
  /** Delay that the API requests before a retry (Retry-After), in milliseconds. */
  readonly retryAfter: number | undefined

  constructor(
    code: KubeErrorCode,
    message: string,
    { apiStatus, retryAfter, hint, cause }: KubeErrorDetails = {},
  ) {
    super(code, message, {
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    })
    this.status = apiStatus?.status
    this.reason = apiStatus?.reason
    this.apiMessage = apiStatus?.message ?? ''
    this.causes = apiStatus?.causes ?? []
    this.retryAfter = retryAfter
  }
}

export function isKubeError(error: unknown, code: KubeErrorCode): error is KubeError {
  return error instanceof KubeError && error.code === code
}

interface ApiStatus {
  readonly status: number
  readonly reason: string | undefined
  /** Message of the API. */
  readonly message: string
  readonly causes: readonly StatusCause[]
}

/** One problem of a request; a Status object can list several. */
export interface StatusCause {
  readonly reason: string
  readonly message: string
  /** Path of the invalid field. */
  readonly field: string | undefined
}

/**
 * Builds the error of a refused request. `what` names the request in the message, for example GET
 * /api/v1/nodes.
 */
export function buildRefusalError(what: string, apiStatus: ApiStatus, retryAfter?: number): KubeError {
  const { status, message: apiMessage, causes } = apiStatus
  // The message usually contains the causes. Only missing causes are appended.
  const missing = causes.filter((cause) => cause.message !== '' && !apiMessage.includes(cause.message))
  const parts = [
    apiMessage || `status ${status}`,
    ...missing.map((cause) => `${cause.field ?? ''} ${cause.message}`),
  ]
  const message = `${what}: ${toPrintable(parts.join('; ').slice(0, 2000))}`
  return new KubeError(toErrorCode(apiStatus), message, { apiStatus, retryAfter })
}

function toErrorCode({ status, message }: ApiStatus): KubeErrorCode {
  if (invalidApplyMessage.test(message)) return 'KUBE_INVALID'
  if (status >= 500) return 'KUBE_SERVER'
  return codesByStatus.get(status) ?? 'KUBE_INVALID'
}

/**
 * Errors of server-side apply about an unknown field, a value of another type or a duplicate list item. The
 * API reports them with status 500, although the request is invalid.
 */
const invalidApplyMessage =
  /field not declared in schema|typed patch object.*(?:expected \w+, got |duplicate entries for key)/s

const codesByStatus: ReadonlyMap<number, KubeErrorCode> = new Map([
  [401, 'KUBE_UNAUTHORIZED'],
  [403, 'KUBE_FORBIDDEN'],
  [404, 'KUBE_NOT_FOUND'],
  [409, 'KUBE_CONFLICT'],
  [410, 'KUBE_EXPIRED'],
  [429, 'KUBE_TOO_MANY'],
])

export function buildNoResponseError(
  what: string,
  server: string,
  error: RequestError,
  mayBeDone: boolean,
): KubeError {
  const code =
    error.reason === 'untrusted' || error.reason === 'rejected' ? 'KUBE_UNTRUSTED' : 'KUBE_UNREACHABLE'
  return new KubeError(code, `${what}: ${server}: ${error.message}`, {
    cause: error.cause,
    hint: mayBeDone
      ? 'the server may have executed the request: check the object before you retry'
      : undefined,
  })
}

/**
 * Parses an error response. Proxies and stopping servers send plain text instead of a Status object. This
 * text then becomes the message.
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
