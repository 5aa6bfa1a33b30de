import { day } from '../../pki/lifetime.ts'

/**
 * Maximum number of renewals of each planned certificate of a node in the period of `measure`, on average.
 * Agents renew at most once in that period, so this leaves room for repeated requests.
 */
const renewalsPerCertificate = 4

export interface QuotaQuestion {
  readonly node: string
  /** Number of certificates in the plan of the node. */
  readonly plannedCount: number
  /** Lifetime of the requested certificate in milliseconds. */
  readonly lifetimeMs: number
  readonly now: number
}

export interface QuotaUse {
  readonly signedCount: number
  readonly limit: number
  readonly periodMs: number
}

/**
 * Remembers the certificates that control planes signed for nodes. Without this limit, a stolen node key
 * could be used to collect any number of certificates. The record is lost when the agent restarts. The API
 * keeps signed requests for an hour, so the next agent counts those again.
 */
export class SigningQuota {
  /** Time of each signature. The outer key is the node, the inner key is the name of the request. */
  readonly #signed = new Map<string, Map<string, number>>()

  /** Records a signed request. A request that is already recorded keeps its first time. */
  record(node: string, request: string, now: number): void {
    const times = this.#signed.get(node) ?? new Map<string, number>()
    if (!times.has(request)) times.set(request, now)
    for (const [name, at] of times) if (now - at > day) times.delete(name)
    this.#signed.set(node, times)
  }

  /**
   * Counts the signatures for a node in the last day, or in the lifetime of the certificate if it is shorter.
   */
  measure({ node, plannedCount, lifetimeMs, now }: QuotaQuestion): QuotaUse {
    const periodMs = Math.min(day, lifetimeMs)
    const times = [...(this.#signed.get(node)?.values() ?? [])]
    return {
      signedCount: times.filter((at) => now - at < periodMs).length,
      limit: plannedCount * renewalsPerCertificate,
      periodMs,
    }
  }
}
