import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import { refusalAnswer } from './responses.ts'
import type { NoAnswer } from '../kit/https-request.ts'

export type EtcdErrorCode =
  | 'ETCD_UNREACHABLE'
  | 'ETCD_UNTRUSTED'
  | 'ETCD_UNAVAILABLE'
  | 'ETCD_REFUSED'
  | 'ETCD_ANSWER'
  | 'ETCD_MEMBERS_UNKNOWN'
  | 'ETCD_MEMBERS_CHANGED'
  | 'ETCD_QUORUM'
  | 'ETCD_LEARNER'

interface EtcdErrorDetails {
  readonly hint?: string | undefined
  readonly cause?: unknown
  /** Whether it may have been done all the same. */
  readonly sent?: boolean
}

/** Something that etcd did not do, or that we would not let it do. */
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

/** For what etcd does not say, nothing; an abort stays one. */
export function unlessEtcd(error: unknown): undefined {
  if (!(error instanceof EtcdError)) throw error
  return undefined
}

/** Of gRPC: the time was over, or nobody could decide. */
const unavailable = new Set([4, 14])

/** Said before anything was done: a learner cannot, and a member that hears the others only since a moment will not. */
const refusedBefore = /not supported for learner|unhealthy cluster/

/** `what` was asked of `endpoint`. */
export function refused(what: string, endpoint: string, status: number, text: string): EtcdError {
  const parsed = refusalAnswer.safeParse(jsonOf(text))
  const words = parsed.success ? parsed.data.message : text.trim() || `status ${status}`
  const passing = parsed.success ? unavailable.has(parsed.data.code) : status >= 500
  const sent = passing && !refusedBefore.test(words)
  return new EtcdError(
    passing ? 'ETCD_UNAVAILABLE' : 'ETCD_REFUSED',
    `${what}: ${endpoint}: ${printable(words.slice(0, 500))}`,
    { sent },
  )
}

export function unanswered(what: string, endpoint: string, error: NoAnswer): EtcdError {
  const code = error.why === 'untrusted' || error.why === 'rejected' ? 'ETCD_UNTRUSTED' : 'ETCD_UNREACHABLE'
  return new EtcdError(code, `${what}: ${endpoint}: ${error.message}`, {
    cause: error.cause,
    sent: error.sent,
  })
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
