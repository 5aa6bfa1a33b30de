import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import type { NoAnswer } from '../kit/https-request.ts'
import type { Cause, Refusal } from './api-status.ts'

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
  | 'KUBE_ANSWER'
  | 'KUBE_KIND_UNKNOWN'

interface KubeErrorDetails {
  readonly refusal?: Refusal
  readonly retryAfter?: number | undefined
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/** Something that the API did not do for us. */
export class KubeError extends HyperkubeError {
  declare readonly code: KubeErrorCode
  /** Of HTTP; undefined when there was no answer. */
  readonly status: number | undefined
  /** The API's own word: AlreadyExists is a conflict, and so is Conflict. */
  readonly reason: string | undefined
  /** In the API's own words, all of them. */
  readonly said: string
  readonly causes: readonly Cause[]
  /** When the API wants to be asked again, in milliseconds. */
  readonly retryAfter: number | undefined

  constructor(
    code: KubeErrorCode,
    message: string,
    { refusal, retryAfter, hint, cause }: KubeErrorDetails = {},
  ) {
    super(code, message, {
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    })
    this.status = refusal?.status
    this.reason = refusal?.reason
    this.said = refusal?.message ?? ''
    this.causes = refusal?.causes ?? []
    this.retryAfter = retryAfter
  }
}

/** Whether something that was thrown is this error of the API. */
export function isKubeError(error: unknown, code: KubeErrorCode): error is KubeError {
  return error instanceof KubeError && error.code === code
}

/** `what` was asked, as a person would write it: GET /api/v1/nodes. */
export function refused(what: string, refusal: Refusal, retryAfter?: number): KubeError {
  const { status, message: said, causes } = refusal
  // The API's message already has what its causes say, in most cases; where it has not, they are what is wrong.
  const missing = causes.filter((cause) => cause.message !== '' && !said.includes(cause.message))
  const words = [
    said || `status ${status}`,
    ...missing.map((cause) => `${cause.field ?? ''} ${cause.message}`),
  ]
  const message = `${what}: ${printable(words.join('; ').slice(0, 2000))}`
  return new KubeError(codeOf(refusal), message, { refusal, retryAfter })
}

function codeOf({ status, message }: Refusal): KubeErrorCode {
  // A field that no object of the kind has: the API gives itself the blame for it, when it is applied.
  if (message.includes('field not declared in schema')) return 'KUBE_INVALID'
  if (status >= 500) return 'KUBE_SERVER'
  return codes.get(status) ?? 'KUBE_INVALID'
}

const codes: ReadonlyMap<number, KubeErrorCode> = new Map([
  [401, 'KUBE_UNAUTHORIZED'],
  [403, 'KUBE_FORBIDDEN'],
  [404, 'KUBE_NOT_FOUND'],
  [409, 'KUBE_CONFLICT'],
  [410, 'KUBE_EXPIRED'],
  [429, 'KUBE_TOO_MANY'],
])

export function unanswered(what: string, server: string, error: NoAnswer, mayBeDone: boolean): KubeError {
  const code = error.why === 'untrusted' || error.why === 'rejected' ? 'KUBE_UNTRUSTED' : 'KUBE_UNREACHABLE'
  return new KubeError(code, `${what}: ${server}: ${error.message}`, {
    cause: error.cause,
    hint: mayBeDone ? 'it may have been done all the same: look before you do it again' : undefined,
  })
}
