import { day } from '../../pki/lifetime.ts'

/**
 * How often each planned certificate of a node may be renewed in a period, on average. Agents renew once in a
 * period, so this leaves room for repeated requests.
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
 * Remembers the certificates that control planes signed for nodes. A stolen node key could otherwise be used
 * to collect certificates without a limit. The record is lost when the agent restarts; the API keeps signed
 * requests for an hour, so those are known again.
 */
export class SigningQuota {
  /** Time of each signature by name of the request, for each node. */
  readonly #signed = new Map<string, Map<string, number>>()

  /** Records a signed request. A request that is already recorded keeps its time. */
  record(node: string, request: string, now: number): void {
    const times = this.#signed.get(node) ?? new Map<string, number>()
    if (!times.has(request)) times.set(request, now)
    for (const [name, at] of times) if (now - at > day) times.delete(name)
    this.#signed.set(node, times)
  }

  /** Counts the signatures for a node in the last day, or in the lifetime of the certificate if it is shorter. */
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
