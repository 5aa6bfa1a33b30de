import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { errorResponse } from './wire.ts'
import type { RequestError } from '../kit/https-request.ts'

export type EtcdErrorCode =
  | 'ETCD_UNREACHABLE'
  | 'ETCD_UNTRUSTED'
  | 'ETCD_UNAVAILABLE'
  | 'ETCD_REFUSED'
  | 'ETCD_INVALID_RESPONSE'
  | 'ETCD_MEMBERS_UNKNOWN'
  | 'ETCD_MEMBERS_CHANGED'
  | 'ETCD_QUORUM'
  | 'ETCD_LEARNER'
  | 'ETCD_NO_RAFT_SNAPSHOT'

interface EtcdErrorDetails {
  readonly hint?: string | undefined
  readonly cause?: unknown
  /** True if etcd may have executed the change in spite of the error. */
  readonly sent?: boolean
}

/** Error of a request that failed, that etcd refused, or that hyperkube refused as unsafe. */
export class EtcdError extends HyperkubeError {
  declare readonly code: EtcdErrorCode
  readonly sent: boolean

  constructor(code: EtcdErrorCode, message: string, { hint, cause, sent = false }: EtcdErrorDetails = {}) {
    super(code, message, {
      component: 'etcd',
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    })
    this.sent = sent
  }
}

export function isEtcdError(error: unknown, code: EtcdErrorCode): error is EtcdError {
  return error instanceof EtcdError && error.code === code
}

/** Returns undefined for an EtcdError and rethrows all other errors, such as an abort. For use in catch(). */
export function ignoreEtcdError(error: unknown): undefined {
  if (!(error instanceof EtcdError)) throw error
  return undefined
}

/** gRPC codes DEADLINE_EXCEEDED and UNAVAILABLE. */
const unavailableCodes = new Set([4, 14])

/**
 * Messages with which etcd refuses a request without executing it. They come from a learner, or from a member
 * that has just reconnected to its peers.
 */
const refusedBeforeExecution = /not supported for learner|unhealthy cluster/

/** Converts an error response to an EtcdError. `what` names the request that was sent to `endpoint`. */
export function toEtcdRefusal(what: string, endpoint: string, status: number, text: string): EtcdError {
  const parsed = errorResponse.safeParse(tryParseJson(text))
  const message = parsed.success ? parsed.data.message : text.trim() || `status ${status}`
  const isTransient = parsed.success ? unavailableCodes.has(parsed.data.code) : status >= 500
  const sent = isTransient && !refusedBeforeExecution.test(message)
  return new EtcdError(
    isTransient ? 'ETCD_UNAVAILABLE' : 'ETCD_REFUSED',
    `${what}: ${endpoint}: ${toPrintable(message.slice(0, 500))}`,
    { sent },
  )
}

export function toEtcdConnectionError(what: string, endpoint: string, error: RequestError): EtcdError {
  const code =
    error.reason === 'untrusted' || error.reason === 'rejected' ? 'ETCD_UNTRUSTED' : 'ETCD_UNREACHABLE'
  return new EtcdError(code, `${what}: ${endpoint}: ${error.message}`, {
    cause: error.cause,
    sent: error.sent,
  })
}

export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
