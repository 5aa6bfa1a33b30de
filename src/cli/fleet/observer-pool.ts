import { readLines } from '../../kit/lines.ts'
import { type FleetCluster, isValidCluster } from '../../workspace/fleet-clusters.ts'
import type { HelperProcess, StartHelper } from '../command/command.ts'
import type { FleetClusterStatus } from './observe-fleet-cluster.ts'
import { type ObserveResponse, observeResponse } from './observer-protocol.ts'

/** Number of clusters for each process. A process starts in the time in which it could observe ten clusters. */
const clustersPerProcess = 25

export interface ObserverPoolOptions {
  /** Starts this program again. Undefined if it cannot start itself. */
  readonly startHelper: StartHelper | undefined
  readonly processors: number
  readonly clusterCount: number
  readonly timeoutMs: number
  /** Ends the processes. */
  readonly signal: AbortSignal
  /** Observes a cluster in this process. */
  readonly observeHere: (cluster: FleetCluster) => Promise<FleetClusterStatus>
}

/**
 * Observes clusters in this process and in further ones, because ssh and TLS connections of many clusters keep
 * a processor busy. A cluster is observed in this process if its process has ended or could not read its
 * cluster.yml.
 */
export class ObserverPool implements Disposable {
  readonly #helpers: readonly ObserverProcess[]
  readonly #options: ObserverPoolOptions
  #pendingHere = 0
  readonly #end = (): void => {
    for (const helper of this.#helpers) helper.end()
  }

  constructor(options: ObserverPoolOptions) {
    const { startHelper, processors, clusterCount, signal } = options
    const count = Math.min(processors, Math.ceil(clusterCount / clustersPerProcess)) - 1
    this.#options = options
    this.#helpers =
      startHelper === undefined
        ? []
        : Array.from(
            { length: Math.max(0, count) },
            () => new ObserverProcess(startHelper(['fleet-observer'])),
          )
    signal.addEventListener('abort', this.#end, { once: true })
  }

  async observe(cluster: FleetCluster): Promise<FleetClusterStatus> {
    const helper = this.#helpers
      .filter(({ isRunning }) => isRunning)
      .toSorted((a, b) => a.pending - b.pending)
      .at(0)
    // The findings of an invalid cluster are known here.
    if (helper === undefined || !isValidCluster(cluster) || this.#pendingHere < helper.pending)
      return this.#observeHere(cluster)
    const response = await helper
      .observe({ file: cluster.file, timeoutMs: this.#options.timeoutMs })
      .catch(() => undefined)
    // This process has read cluster.yml before, so it needs no file that the other one could not read.
    if (response === undefined || 'error' in response) return this.#observeHere(cluster)
    const { name, file, labels } = cluster
    const { health, summary, problems } = response
    return { name, file, labels, health, summary, problems }
  }

  [Symbol.dispose](): void {
    this.#options.signal.removeEventListener('abort', this.#end)
    this.#end()
  }

  async #observeHere(cluster: FleetCluster): Promise<FleetClusterStatus> {
    this.#pendingHere++
    try {
      return await this.#options.observeHere(cluster)
    } finally {
      this.#pendingHere--
    }
  }
}

/** Another process of this program, which observes clusters. */
class ObserverProcess {
  isRunning = true
  readonly #process: HelperProcess
  readonly #pending = new Map<string, PromiseWithResolvers<ObserveResponse>>()

  constructor(process: HelperProcess) {
    this.#process = process
    process.stdin.on('error', () => undefined)
    process.stderr.resume()
    void this.#read()
  }

  get pending(): number {
    return this.#pending.size
  }

  /** Rejects if the process ends before its response. */
  async observe(request: { readonly file: string; readonly timeoutMs: number }): Promise<ObserveResponse> {
    const response = Promise.withResolvers<ObserveResponse>()
    this.#pending.set(request.file, response)
    this.#process.stdin.write(`${JSON.stringify(request)}\n`)
    return response.promise
  }

  end(): void {
    this.#process.kill(processEnded())
  }

  async #read(): Promise<void> {
    try {
      for await (const line of readLines(this.#process.stdout)) {
        const response = observeResponse.parse(JSON.parse(line))
        this.#pending.get(response.file)?.resolve(response)
        this.#pending.delete(response.file)
      }
    } catch {
      // The process ended or wrote something else. Its clusters are observed in this process.
    } finally {
      this.isRunning = false
      this.end()
      for (const { reject } of this.#pending.values()) reject(processEnded())
      this.#pending.clear()
    }
  }
}

/** Never reaches the operator, because the clusters of such a process are observed again. */
function processEnded(): Error {
  return new Error('a process that observes clusters has ended')
}
