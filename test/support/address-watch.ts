import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** One request to an address of a load balancer. */
export interface AddressSample {
  /** When the request started, in milliseconds of `performance.now()`. */
  readonly at: number
  /** Name of the pod that responded; undefined without a response. */
  readonly pod: string | undefined
}

/** Requests an address again and again, each time with a new connection. */
export interface AddressWatch extends AsyncDisposable {
  /** Finished requests in the order of their start. */
  samples(): readonly AddressSample[]
}

const intervalMs = 100
const timeoutMs = 500

export function watchAddress(address: string): AddressWatch {
  const stop = new AbortController()
  const pending: Promise<void>[] = []
  const samples: AddressSample[] = []
  const loop = (async () => {
    while (!stop.signal.aborted) {
      const at = performance.now()
      pending.push(fetchPodName(address).then((pod) => void samples.push({ at, pod })))
      await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  })()
  return {
    samples: () => samples.toSorted((a, b) => a.at - b.at),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await loop
      await Promise.all(pending)
    },
  }
}

/** Requests the name of the pod that responds at an address; undefined if none does. */
export async function fetchPodName(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(
      `http://${address}/hostname`,
      { agent: false, timeout: timeoutMs },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve(undefined))
        response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      },
    )
    outgoing.on('error', () => resolve(undefined))
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.end()
  })
}

/**
 * Returns the milliseconds from a fault until the first response after the last failed request. Returns 0
 * without a failed request, and undefined if no request succeeded since the last failure.
 */
export function measureOutage(samples: readonly AddressSample[], faultAt: number): number | undefined {
  const after = samples.filter(({ at }) => at >= faultAt)
  const lastFailure = after.findLastIndex(({ pod }) => pod === undefined)
  if (lastFailure === -1) return 0
  const recovered = after[lastFailure + 1]
  return recovered === undefined ? undefined : recovered.at - faultAt
}

/** Returns the longest time in milliseconds between two successful requests since a time. */
export function measureLongestGap(samples: readonly AddressSample[], since: number): number {
  const times = samples.filter(({ at, pod }) => at >= since && pod !== undefined).map(({ at }) => at)
  return Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)))
}

/** True if all requests of the last `quietMs` succeeded, and there were requests before. */
export function isStable(samples: readonly AddressSample[], now: number, quietMs: number): boolean {
  const first = samples[0]
  return (
    first !== undefined &&
    first.at < now - quietMs &&
    samples.filter(({ at }) => at >= now - quietMs).every(({ pod }) => pod !== undefined)
  )
}
