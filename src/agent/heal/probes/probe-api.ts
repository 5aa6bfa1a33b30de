import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { KubeClient } from '../../../kube/client.ts'
import type { KubeQuery } from '../../../kube/request.ts'
import type { ProbeDeps } from './probe-deps.ts'

const kubeconfig = z.looseObject({
  clusters: z.tuple([
    z.looseObject({ cluster: z.looseObject({ server: z.string(), 'certificate-authority': z.string() }) }),
  ]),
  users: z.tuple([
    z.looseObject({
      user: z.looseObject({ 'client-certificate': z.string(), 'client-key': z.string() }),
    }),
  ]),
})

export interface ProbeApiRequest {
  /** Path of a kubeconfig on the host. Its credentials determine what the probe may read. */
  readonly kubeconfig: string
  readonly path: string
  readonly query?: KubeQuery
  readonly accept?: string
}

/**
 * Reads the Kubernetes API with the credentials of components on this host. A failed request is not retried,
 * because the probe runs again at its next interval.
 */
export class ProbeApi implements Disposable {
  readonly #files: ProbeDeps['files']
  readonly #over = new AbortController()
  readonly #clients = new Map<string, KubeClient>()

  constructor(files: ProbeDeps['files']) {
    this.#files = files
  }

  /** Sends a GET request and returns the unparsed body. */
  async text({ kubeconfig: file, ...request }: ProbeApiRequest, signal: AbortSignal): Promise<string> {
    const client = this.#clients.get(file) ?? (await this.#open(file))
    return client.text({ method: 'GET', ...request, once: true, signal })
  }

  async #open(file: string): Promise<KubeClient> {
    const text = await this.#files.read(file)
    if (text === undefined) throw new Error(`there is no ${file}`)
    const {
      clusters: [{ cluster }],
      users: [{ user }],
    } = kubeconfig.parse(parseYaml(text.toString('utf8')))
    const client = new KubeClient({
      servers: [cluster.server],
      ca: { file: cluster['certificate-authority'] },
      credentials: {
        certificate: { file: user['client-certificate'] },
        privateKey: { file: user['client-key'] },
      },
      signal: this.#over.signal,
    })
    // Another probe may have opened a client for the same kubeconfig at the same time; close that one.
    this.#clients.get(file)?.close()
    this.#clients.set(file, client)
    return client
  }

  [Symbol.dispose](): void {
    this.#over.abort()
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }
}

/** Minimum time between two requests for the same list, in milliseconds. */
const minAgeMs = 60_000

/**
 * Average rate at which lists may be read, in bytes per millisecond (about 4 KB per second). Every node reads
 * lists that grow with the cluster, so the API load would otherwise grow with the square of the node count.
 * With 5,000 nodes the total is 20 MB per second. Each node then reads 1.3 MB of nodes every five minutes and
 * 15 MB of services every hour.
 */
const bytesPerMs = 4

interface CacheEntry<T> {
  /** Time at which the entry expires, in milliseconds of a monotonic clock. */
  readonly until: number
  readonly value: T
}

/** Caches large responses. The larger a response, the longer it is kept. */
export class RateLimitedCache<T> {
  readonly #now: () => number
  readonly #entries = new Map<string, CacheEntry<T>>()

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Returns the cached value, or loads it if it has expired. If loading fails, the expired value is returned
   * and used for another minute. An API server under load could otherwise not recover, because every node
   * would read large lists at each probe.
   */
  async get(key: string, load: () => Promise<string>, parse: (text: string) => T): Promise<T> {
    const known = this.#entries.get(key)
    if (known !== undefined && this.#now() < known.until) return known.value
    try {
      const text = await load()
      const value = parse(text)
      this.#entries.set(key, { until: this.#now() + Math.max(minAgeMs, text.length / bytesPerMs), value })
      return value
    } catch (error) {
      if (known === undefined) throw error
      this.#entries.set(key, { until: this.#now() + minAgeMs, value: known.value })
      return known.value
    }
  }
}
